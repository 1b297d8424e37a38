import {
  deleteListenerOfAccount,
  listAllWebhookListeners,
  type ListenerPermission,
  permitListeners,
} from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import type { Command } from 'commander';
import { examplesOf } from '../examples.ts';
import { accountArgument, accountOption, gidArgument, gidOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, printList, type OutputOptions } from '../verb.ts';

interface ListOptions extends OutputOptions, Window {
  account?: string;
}

export function addListenerCommands(program: Command, shell: Shell): void {
  const noun = program
    .command('listener')
    .description('manage webhook listeners: subscriptions that are read, not sent');

  addVerb(noun, 'list', 'list webhook listeners, newest first')
    .addOption(accountOption(shell, 'only those of this account'))
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'WebhookListener'))
    .addHelpText('after', notes(`\n  ${operatorCommand()} listener list --account ${examplesOf(shell).account}`))
    .action(async (options: ListOptions) => {
      await printList(shell, options, {
        name: 'webhookListeners',
        read: (context, request) =>
          listAllWebhookListeners(context, { accountId: options.account ?? null, ...request }),
        id: (row) => row.id,
        columns: {
          listener: (row) => row.id,
          account: (row) => row.accountId,
          expires: (row) => row.expiresAt,
          'event types': (row) => row.eventTypes.length,
          'last sequence': (row) => row.lastSequence,
          created: (row) => row.createdAt,
        },
        fixed: { account: options.account },
        empty: `No listeners match. Their owners create them with \`createWebhookListener\`; find an account with \`${operatorCommand()} account list\`.`,
      });
    });

  addVerb(noun, 'delete', 'delete a listener; its owner can no longer read its events')
    .addArgument(gidArgument(shell, 'WebhookListener'))
    .addHelpText('after', notes(`\n  ${operatorCommand()} listener delete 4711`))
    .action(async (listenerId: string, options: OutputOptions) => {
      const deleted = await withContext(shell, (context) => deleteListenerOfAccount(context, { listenerId }));
      print(shell, options, deleted, () => `The listener ${listenerId} is deleted`);
    });

  const permit = async (accountId: string, isForbidden: boolean, options: OutputOptions) => {
    const permission = await withContext(shell, (context) => permitListeners(context, { accountId, isForbidden }));
    print(shell, options, permission, describe);
  };

  addVerb(noun, 'forbid', 'forbid an account to create listeners; those it has stay')
    .addArgument(accountArgument(shell))
    .addHelpText('after', notes(`\n  ${operatorCommand()} listener forbid ${examplesOf(shell).account}`))
    .action((accountId: string, options: OutputOptions) => permit(accountId, true, options));

  addVerb(noun, 'allow', 'allow an account to create listeners again')
    .addArgument(accountArgument(shell))
    .addHelpText('after', notes(`\n  ${operatorCommand()} listener allow ${examplesOf(shell).account}`))
    .action((accountId: string, options: OutputOptions) => permit(accountId, false, options));
}

function describe({ accountId, forbiddenAt, listeners }: ListenerPermission): string {
  if (forbiddenAt === null) return `The account ${accountId} may create listeners. It has ${listeners}.`;
  const since = `The account ${accountId} may not create listeners since ${forbiddenAt.toISOString()}.`;
  if (listeners === 0) return `${since} It has none.`;
  return `${since} It has ${listeners}, which stay until they expire. To delete one, run \`${operatorCommand()} listener delete\`; \`listener list --account\` lists them.`;
}
