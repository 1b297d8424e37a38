import { createOrganization, listOrganizations } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import type { Command } from 'commander';
import { gidOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, printList, type OutputOptions } from '../verb.ts';

export function addOrganizationCommands(program: Command, shell: Shell): void {
  const noun = program.command('organization').description('manage organizations');

  addVerb(noun, 'create', 'create an organization')
    .requiredOption('--name <name>', 'the name of the organization')
    .action(async (options: OutputOptions & { name: string }) => {
      const created = await withContext(shell, (context) => createOrganization(context, { name: options.name }));
      print(shell, options, created, ({ id, name }) => `Created the organization ${name}: ${id}`);
    });

  addVerb(noun, 'list', 'list organizations, newest first')
    .option('--name <text>', 'only those whose name contains this, in any case')
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'Organization'))
    .addHelpText('after', notes(`\n  ${operatorCommand()} organization list --name harbour`))
    .action(async (options: OutputOptions & Window & { name?: string }) => {
      const filter = { nameContains: options.name ?? null };
      await printList(shell, options, {
        name: 'organizations',
        read: (context, request) => listOrganizations(context, { ...filter, ...request }),
        id: (row) => row.id,
        columns: {
          organization: (row) => row.id,
          name: (row) => row.name,
          created: (row) => row.createdAt,
        },
        empty:
          options.name === undefined
            ? `There are no organizations. Create one: ${operatorCommand()} organization create --name <name>`
            : `No organization has this name. List all: ${operatorCommand()} organization list`,
      });
    });
}
