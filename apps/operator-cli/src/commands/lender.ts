import { createLender, updateLender } from '@deedwire/actions';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addLenderCommands(program: Command, shell: Shell): void {
  const noun = program.command('lender').description('manage lenders');

  addVerb(noun, 'create', 'create a lender in an organization')
    .requiredOption('--organization <gid>')
    .requiredOption('--name <name>')
    .action(async (options: OutputOptions & { organization: string; name: string }) => {
      const input = { organizationId: options.organization, name: options.name };
      const created = await withContext(shell, (context) => createLender(context, input));
      print(shell, options, created, ({ id, name }) => `Created the lender ${name}: ${id}`);
    });

  addVerb(noun, 'update <gid>', 'rename a lender')
    .requiredOption('--name <name>')
    .action(async (lenderId: string, options: OutputOptions & { name: string }) => {
      const updated = await withContext(shell, (context) => updateLender(context, { lenderId, name: options.name }));
      print(shell, options, updated, ({ id, name }) => `Renamed the lender ${id} to ${name}`);
    });
}
