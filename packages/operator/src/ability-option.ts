import type { Ability } from '@deedwire/core';
import { InvalidArgumentError, Option } from 'commander';

/** `--ability <ability...>`. The value contains `READ`, which every key and every session has. Undefined if the option is not given. */
export function abilityOption(choices: readonly Ability[], description: string): Option {
  return new Option('--ability <ability...>', `${description}: ${choices.join(', ')}`).argParser(
    (value, earlier: readonly Ability[] | undefined) => {
      const ability = choices.find((choice) => choice === value);
      if (ability === undefined) throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
      return [...new Set<Ability>([...(earlier ?? ['READ']), ability])];
    },
  );
}
