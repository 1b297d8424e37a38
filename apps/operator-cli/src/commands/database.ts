import type { Command } from 'commander';
import { migrateDatabase } from '../session.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addDatabaseCommands(program: Command): void {
  const noun = program.command('database').description('the database itself');

  addVerb(noun, 'migrate', 'bring the database to what this build needs').action(async (options: OutputOptions) => {
    const migrated = await migrateDatabase();
    print(options, migrated, ({ applied }) =>
      applied.length === 0 ? 'Nothing to apply' : applied.map((name) => `Applied ${name}`).join('\n'),
    );
  });
}
