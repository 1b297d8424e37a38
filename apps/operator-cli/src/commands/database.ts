import { type Command, InvalidArgumentError } from 'commander';
import { migrateDatabase } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

const cellMax = 1023;

export function addDatabaseCommands(program: Command, shell: Shell): void {
  const noun = program.command('database').description('manage the database');

  addVerb(noun, 'migrate', 'apply the migrations that this build needs')
    .option(
      '--cell <number>',
      `the number of this database in the ids of its records, 0 to ${cellMax}, for good (default: 0 for a new database)`,
      parseCell,
    )
    .action(async (options: OutputOptions & { cell?: number }) => {
      const { cell } = options;
      const migrated = await migrateDatabase(shell, cell === undefined ? {} : { cell });
      print(shell, options, migrated, ({ applied }) =>
        applied.length === 0 ? 'Nothing to apply' : applied.map((name) => `Applied ${name}`).join('\n'),
      );
    });
}

function parseCell(value: string): number {
  if (!/^\d{1,4}$/.test(value) || Number(value) > cellMax) {
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${cellMax}.`);
  }
  return Number(value);
}
