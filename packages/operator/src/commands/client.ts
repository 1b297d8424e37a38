import { listClients, pinClient, setClientLimit } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import { type Command, InvalidArgumentError } from 'commander';
import { examplesOf } from '../examples.ts';
import { accountOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, printList, type OutputOptions } from '../verb.ts';

export function addClientCommands(program: Command, shell: Shell): void {
  const noun = program.command('client').description('manage API clients');

  addVerb(noun, 'list', 'list API clients, newest first, without their keys')
    .addOption(accountOption(shell, 'only those of this account'))
    .addOption(limitOption())
    .option('--after <clientId>', afterDescription)
    .addHelpText(
      'after',
      notes(
        `\n  ${operatorCommand()} client list --account ${examplesOf(shell).account}\n\n\`credential list\` shows the keys of an account.`,
      ),
    )
    .action(async (options: OutputOptions & Window & { account?: string }) => {
      const accountId = options.account ?? null;
      await printList(shell, options, {
        name: 'clients',
        read: (context, request) => listClients(context, { accountId, ...request }),
        id: (row) => row.clientId,
        columns: {
          client: (row) => row.clientId,
          account: (row) => row.accountId,
          keys: (row) => row.liveKeys,
          'last used': (row) => row.lastUsedAt,
          version: (row) => row.schemaVersion,
          created: (row) => row.createdAt,
          points: (row) => row.costMaximum,
          'per second': (row) => row.costRestoreRate,
        },
        fixed: { account: accountId ?? undefined },
        empty: `There are no clients. Issue a key to a new one: ${operatorCommand()} credential issue --help`,
      });
    });

  addVerb(noun, 'pin <clientId>', 'change the schema version for requests that name none')
    .requiredOption('--schema-version <date>', 'a version of the client’s interface, for example 2026-11-01')
    .action(async (clientId: string, options: OutputOptions & { schemaVersion: string }) => {
      const input = { clientId, schemaVersion: options.schemaVersion };
      const pinned = await withContext(shell, (context) => pinClient(context, input));
      print(
        shell,
        options,
        pinned,
        ({ schemaVersion, previousSchemaVersion }) =>
          `Pinned the client ${clientId} to ${schemaVersion}; previously ${previousSchemaVersion}`,
      );
    });

  addVerb(
    noun,
    'set-limit <clientId>',
    'change the cost points of a client; every interface applies it within a second',
  )
    .requiredOption('--maximum <points>', 'the points of a full bucket, from 1000; new clients have 2000', parsePoints)
    .requiredOption('--restore-rate <points per second>', 'from 1; new clients have 200', parsePoints)
    .action(async (clientId: string, options: OutputOptions & { maximum: number; restoreRate: number }) => {
      const { maximum, restoreRate } = options;
      const limited = await withContext(shell, (context) =>
        setClientLimit(context, { clientId, maximum, restoreRate }),
      );
      print(
        shell,
        options,
        limited,
        ({ previousMaximum, previousRestoreRate }) =>
          `Set the limit of the client ${clientId} to ${maximum} points, restored at ${restoreRate} per second; ` +
          `previously ${previousMaximum} and ${previousRestoreRate}`,
      );
    });
}

function parsePoints(value: string): number {
  if (!/^\d{1,10}$/.test(value)) throw new InvalidArgumentError('It must be a whole number, for example 5000.');
  return Number(value);
}
