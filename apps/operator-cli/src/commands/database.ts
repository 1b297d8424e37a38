import type { Command } from 'commander';
import { migrateDatabase } from '../session.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addDatabaseCommands(program: Command): void {
  const noun = program.command('database').description('manage the database');

  addVerb(noun, 'migrate', 'apply the migrations that this build needs').action(async (options: OutputOptions) => {
    const migrated = await migrateDatabase();
    print(options, migrated, ({ applied }) =>
      applied.length === 0 ? 'Nothing to apply' : applied.map((name) => `Applied ${name}`).join('\n'),
    );
  });
}
