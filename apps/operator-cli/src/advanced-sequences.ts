import type { RestoreReport } from '@deedwire/actions';
import { InvalidArgumentError, Option } from 'commander';

export function describeAdvanced(advanced: RestoreReport['advanced']): string {
  return advanced.map(({ name, before, after }) => `Advanced ${name} from ${before} to ${after}`).join('\n');
}

export function matterNumberOption(): Option {
  return new Option(
    '--matter-number <number>',
    'the highest number of a matter reference that clients may have, for example 4711 of M-2027-004711',
  ).argParser((value) => {
    if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
    return value;
  });
}
