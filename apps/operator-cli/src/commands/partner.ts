import { createPartner } from '@deedwire/actions';
import type { Command } from 'commander';
import { gidOption } from '../gid.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addPartnerCommands(program: Command, shell: Shell): void {
  const noun = program.command('partner').description('manage partners');

  addVerb(noun, 'create', 'create a partner in an organization')
    .addOption(gidOption(shell, 'organization', 'the organization', 'Organization').makeOptionMandatory())
    .requiredOption('--name <name>', 'the name of the partner')
    .action(async (options: OutputOptions & { organization: string; name: string }) => {
      const input = { organizationId: options.organization, name: options.name };
      const created = await withContext(shell, (context) => createPartner(context, input));
      print(shell, options, created, ({ id, name }) => `Created the partner ${name}: ${id}`);
    });
}
