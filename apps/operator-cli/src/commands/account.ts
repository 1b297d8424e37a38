import { listAccounts } from '@deedwire/actions';
import type { InterfaceName } from '@deedwire/domain';
import type { Command } from 'commander';
import { accountTypes, gidOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import type { Shell } from '../shell.ts';
import { addVerb, interfaceOption, notes, printList, type OutputOptions } from '../verb.ts';

interface ListOptions extends OutputOptions, Window {
  interface?: InterfaceName;
  organization?: string;
  name?: string;
}

export function addAccountCommands(program: Command, shell: Shell): void {
  const noun = program.command('account').description('list lenders and partners');

  addVerb(noun, 'list', 'list lenders and partners, newest first')
    .addOption(interfaceOption('only those of this interface'))
    .addOption(gidOption(shell, 'organization', 'only those of this organization', 'Organization'))
    .option('--name <text>', 'only those whose name contains this, in any case')
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, ...accountTypes))
    .addHelpText('after', notes('\n  deedwire-operator account list --interface partner --name keystone'))
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
          name: (row) => row.name,
          organization: (row) => row.organizationName,
          created: (row) => row.createdAt,
          interface: (row) => row.interfaceName,
        },
        fixed: { interface: options.interface, organization: options.organization },
        empty:
          'No accounts match. List the organizations with `deedwire-operator organization list`, and create an account with `lender create` or `partner create`.',
      });
    });
}
