import { createAccount, listAccounts } from '@deedwire/actions';
import { accountTypesOf, type InterfaceName, interfaceNamesOf, operatorCommand, withArticles } from '@deedwire/core';
import type { Command } from 'commander';
import { examplesOf } from '../examples.ts';
import { gidOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, interfaceOption, notes, print, printList, type OutputOptions } from '../verb.ts';

interface ListOptions extends OutputOptions, Window {
  interface?: InterfaceName;
  organization?: string;
  name?: string;
}

export function addAccountCommands(program: Command, shell: Shell): void {
  const noun = program.command('account').description('list the accounts of all interfaces');
  const interfaceNames = interfaceNamesOf(shell.service);

  addVerb(noun, 'list', 'list the accounts of all interfaces, newest first')
    .addOption(interfaceOption(shell, 'only those of this interface'))
    .addOption(gidOption(shell, 'organization', 'only those of this organization', 'Organization'))
    .option('--name <text>', 'only those whose name contains this, in any case')
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, ...accountTypesOf(shell.service)))
    .addHelpText(
      'after',
      notes(`\n  ${operatorCommand()} account list --interface ${examplesOf(shell).interfaceName} --name keystone`),
    )
    .action(async (options: ListOptions) => {
      const filter = {
        interfaceName: options.interface ?? null,
        organizationId: options.organization ?? null,
        nameContains: options.name ?? null,
      };
      await printList(shell, options, {
        name: 'accounts',
        read: (context, request) => listAccounts(context, { ...filter, ...request }),
        id: (row) => row.id,
        columns: {
          account: (row) => row.id,
          'external id': (row) => row.externalId,
          name: (row) => row.name,
          organization: (row) => row.organizationName,
          created: (row) => row.createdAt,
          interface: (row) => row.interfaceName,
        },
        fixed: { interface: options.interface, organization: options.organization },
        empty: `No accounts match. List the organizations with \`${operatorCommand()} organization list\`, and create an account with ${interfaceNames.map((name) => `\`${name} create\``).join(' or ')}.`,
      });
    });
}

/** `<interface> create …`, for each interface. */
export function addInterfaceCommands(program: Command, shell: Shell): void {
  for (const interfaceName of interfaceNamesOf(shell.service)) {
    const kind = interfaceName.replaceAll('-', ' ');
    const noun = program.command(interfaceName).description(`manage ${kind}s`);
    addVerb(noun, 'create', `create ${withArticles([kind])} in an organization`)
      .addOption(gidOption(shell, 'organization', 'the organization', 'Organization').makeOptionMandatory())
      .requiredOption('--name <name>', `the name of the ${kind}`)
      .action(async (options: OutputOptions & { organization: string; name: string }) => {
        const input = { organizationId: options.organization, name: options.name };
        const created = await withContext(shell, (context) => createAccount(context, interfaceName, input));
        print(shell, options, created, ({ id, name }) => `Created the ${kind} ${name}: ${id}`);
      });
  }
}
