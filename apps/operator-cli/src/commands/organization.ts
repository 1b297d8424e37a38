import { createOrganization } from '@deedwire/actions';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addOrganizationCommands(program: Command, shell: Shell): void {
  const noun = program.command('organization').description('manage organizations');

  addVerb(noun, 'create', 'create an organization')
    .requiredOption('--name <name>')
    .action(async (options: OutputOptions & { name: string }) => {
      const created = await withContext(shell, (context) => createOrganization(context, { name: options.name }));
      print(shell, options, created, ({ id, name }) => `Created the organization ${name}: ${id}`);
    });
}
