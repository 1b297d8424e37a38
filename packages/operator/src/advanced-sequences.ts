import type { LastNumbers, RestoreReport } from '@deedwire/actions';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Shell } from './shell.ts';

export function describeAdvanced(advanced: RestoreReport['advanced']): string {
  return advanced.map(({ name, before, after }) => `Advanced ${name} from ${before} to ${after}`).join('\n');
}

/** Adds an option for each sequence of the application: `--invoice-number` for `invoice_number`. */
export function addNumberOptions(verb: Command, shell: Shell): Command {
  for (const { option } of numberOptions(shell)) verb.addOption(option);
  return verb;
}

/** The values of these options, by sequence. */
export function readNumbers(verb: Command, shell: Shell): LastNumbers {
  const options: Record<string, string | undefined> = verb.opts();
  return Object.fromEntries(
    numberOptions(shell).flatMap(({ sequence, option }): [string, string][] => {
      const number = options[option.attributeName()];
      return number === undefined ? [] : [[sequence, number]];
    }),
  );
}

function numberOptions({ service }: Shell): { sequence: string; option: Option }[] {
  return Object.entries(service.sequences).map(([sequence, description]) => {
    const option = new Option(`--${sequence.replaceAll('_', '-')} <number>`, description).argParser((value) => {
      if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
      return value;
    });
    return { sequence, option };
  });
}
