import { parseArgs } from 'node:util';
import type { Changes } from './changes.ts';
import { planEventType } from './event-type.ts';
import { planEventVersion } from './event-version.ts';
import { interfaceNames, planInterfaceVersion } from './interface-version.ts';
import { ScaffoldError } from './scaffold-error.ts';

export const usage = `Writes every file and every line of a list that a new event type or version needs.

  pnpm new event-type <noun.past> [--interface lender|partner|both] [--date <date>] [--description <sentence>]
  pnpm new event-version <type> <date>
  pnpm new interface-version <interface> <date>

A date is YYYY-MM-DD, not in the past, and later than the newest version. A new version is a preview.

  --interface    The interfaces whose clients can subscribe. By default those of the other events about the same noun;
                 without such an event, both, and \`pnpm check\` asks you to confirm.
  --date         The date of the first version. By default today in UTC.
  --description  One sentence. By default derived from the name, for example "A team member was added."

Afterwards \`pnpm check\` lists what is left to fill in. If the command refuses, it has written nothing.
`;

export type Plan = { readonly kind: 'help' } | { readonly kind: 'planned'; readonly summary: string };

/**
 * Plans the changes of a command line.
 *
 * @param today `YYYY-MM-DD` in UTC
 * @throws {ScaffoldError} when the command line is wrong, or the command refuses
 */
export function planCommand(changes: Changes, commandLine: readonly string[], today: string): Plan {
  const { values, positionals } = parse(commandLine);
  const [command, ...names] = positionals;
  if (values.help === true || command === undefined || command === 'help') return { kind: 'help' };
  const [first = '', second = ''] = names;
  const { interface: interfaceOption, date, description } = values;
  const isTypeOnly = [interfaceOption, date, description].every((value) => value === undefined);
  switch (command) {
    case 'event-type': {
      expectNames(command, names, 1);
      const interfaces = interfaceOption === undefined ? undefined : parseInterfaces(interfaceOption);
      return planned(planEventType(changes, { type: first, date: date ?? today, interfaces, description, today }));
    }
    case 'event-version':
      expectNames(command, names, 2, isTypeOnly);
      return planned(planEventVersion(changes, { type: first, date: second, today }));
    case 'interface-version':
      expectNames(command, names, 2, isTypeOnly);
      return planned(planInterfaceVersion(changes, { interfaceName: first, date: second, today }));
    default:
      throw new ScaffoldError(`There is no command ${JSON.stringify(command)}.\n\n${usage}`);
  }
}

function parse(commandLine: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...commandLine],
      allowPositionals: true,
      options: { interface: text, date: text, description: text, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new ScaffoldError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, { cause: error });
  }
}

function planned(summary: string): Plan {
  return { kind: 'planned', summary };
}

function expectNames(command: string, names: readonly string[], count: number, areOptionsRight = true): void {
  if (names.length === count && areOptionsRight) return;
  const line = usage.split('\n').find((candidate) => candidate.includes(`pnpm new ${command}`)) ?? '';
  throw new ScaffoldError(`Usage: ${line.trim()}`);
}

function parseInterfaces(option: string): readonly string[] {
  if (option === 'both') return interfaceNames;
  if (interfaceNames.includes(option)) return [option];
  throw new ScaffoldError(`--interface is ${JSON.stringify(option)}. Use lender, partner or both.`);
}
