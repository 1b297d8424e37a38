import { createLender, updateLender } from '@deedwire/actions';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addLenderCommands(program: Command): void {
  const noun = program.command('lender').description('manage lenders');

  addVerb(noun, 'create', 'create a lender in an organization')
    .requiredOption('--organization <gid>')
    .requiredOption('--name <name>')
    .action(async (options: OutputOptions & { organization: string; name: string }) => {
      const input = { organizationId: options.organization, name: options.name };
      const created = await withContext((context) => createLender(context, input));
      print(options, created, ({ id, name }) => `Created the lender ${name}: ${id}`);
    });

  addVerb(noun, 'update <gid>', 'rename a lender')
    .requiredOption('--name <name>')
    .action(async (lenderId: string, options: OutputOptions & { name: string }) => {
      const updated = await withContext((context) => updateLender(context, { lenderId, name: options.name }));
      print(options, updated, ({ id, name }) => `Renamed the lender ${id} to ${name}`);
    });
}
