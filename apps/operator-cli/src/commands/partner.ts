import { createPartner } from '@deedwire/actions';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addPartnerCommands(program: Command, shell: Shell): void {
  const noun = program.command('partner').description('manage partners');

  addVerb(noun, 'create', 'create a partner in an organization')
    .requiredOption('--organization <gid>')
    .requiredOption('--name <name>')
    .action(async (options: OutputOptions & { organization: string; name: string }) => {
      const input = { organizationId: options.organization, name: options.name };
      const created = await withContext(shell, (context) => createPartner(context, input));
      print(shell, options, created, ({ id, name }) => `Created the partner ${name}: ${id}`);
    });
}
