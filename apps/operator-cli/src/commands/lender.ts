import { createLender, updateLender } from '@deedwire/actions';
import type { Command } from 'commander';
import { gidArgument, gidOption } from '../gid.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addLenderCommands(program: Command, shell: Shell): void {
  const noun = program.command('lender').description('manage lenders');

  addVerb(noun, 'create', 'create a lender in an organization')
    .addOption(gidOption(shell, 'organization', 'the organization', 'Organization').makeOptionMandatory())
    .requiredOption('--name <name>', 'the name of the lender')
    .action(async (options: OutputOptions & { organization: string; name: string }) => {
      const input = { organizationId: options.organization, name: options.name };
      const created = await withContext(shell, (context) => createLender(context, input));
      print(shell, options, created, ({ id, name }) => `Created the lender ${name}: ${id}`);
    });

  addVerb(noun, 'update', 'rename a lender')
    .addArgument(gidArgument(shell, 'Lender'))
    .requiredOption('--name <name>', 'the new name')
    .action(async (lenderId: string, options: OutputOptions & { name: string }) => {
      const updated = await withContext(shell, (context) => updateLender(context, { lenderId, name: options.name }));
      print(shell, options, updated, ({ id, name }) => `Renamed the lender ${id} to ${name}`);
    });
}
