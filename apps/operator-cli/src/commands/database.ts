import { type Command, InvalidArgumentError } from 'commander';
import { migrateDatabase } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

const cellMax = 1023;
const waitMinutesMax = 1440;
const defaultWaitMinutes = 10;

export function addDatabaseCommands(program: Command, shell: Shell): void {
  const noun = program.command('database').description('manage the database');

  addVerb(noun, 'migrate', 'apply the migrations that this build needs')
    .option(
      '--cell <number>',
      `the number of this database in the ids of its records, 0 to ${cellMax}, for good (default: 0 for a new database)`,
      parseUpTo(cellMax, ''),
    )
    .option(
      '--wait <minutes>',
      `how long to wait for locks that other sessions hold, 0 to ${waitMinutesMax}`,
      parseUpTo(waitMinutesMax, ' of minutes'),
      defaultWaitMinutes,
    )
    .action(async (options: OutputOptions & { cell?: number; wait: number }) => {
      const { cell, wait } = options;
      const migrated = await migrateDatabase(shell, { ...(cell !== undefined && { cell }), waitMs: wait * 60_000 });
      print(shell, options, migrated, ({ applied }) =>
        applied.length === 0 ? 'Nothing to apply' : applied.map((name) => `Applied ${name}`).join('\n'),
      );
    });
}

function parseUpTo(max: number, unit: string): (value: string) => number {
  return (value) => {
    if (!/^\d{1,4}$/.test(value) || Number(value) > max) {
      throw new InvalidArgumentError(`It must be a whole number${unit} from 0 to ${max}.`);
    }
    return Number(value);
  };
}
