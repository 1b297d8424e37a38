import { issueCredential, listCredentials, revokeCredential } from '@deedwire/actions';
import type { InterfaceName } from '@deedwire/domain';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import { formatTable } from '../table.ts';
import { addVerb, interfaceOption, print, type OutputOptions } from '../verb.ts';

interface AccountOptions extends OutputOptions {
  interface: InterfaceName;
  account: string;
}

export function addCredentialCommands(program: Command): void {
  const noun = program.command('credential').description('manage the API keys of clients');

  addVerb(noun, 'issue', 'issue an API key and print it once')
    .addOption(interfaceOption())
    .requiredOption('--account <gid>', 'the lender or partner')
    .option('--client <id>', 'issue the key to this client; defaults to a new client')
    .option('--schema-version <date>', 'pin the new client to this version; defaults to the current version')
    .action(async (options: AccountOptions & { client?: string; schemaVersion?: string }) => {
      const input = {
        interfaceName: options.interface,
        accountId: options.account,
        clientId: options.client ?? null,
        schemaVersion: options.schemaVersion ?? null,
      };
      const issued = await withContext((context) => issueCredential(context, input));
      print(options, issued, ({ clientId, apiKey, organizationId }) =>
        [
          'Store the API key now. It cannot be shown again.',
          `X-Service-Client-Id: ${clientId}`,
          `X-Service-API-Key: ${apiKey}`,
          `X-Service-Organization-Id: ${organizationId}`,
        ].join('\n'),
      );
    });

  addVerb(noun, 'list', 'list the API keys of an account, without their secrets')
    .addOption(interfaceOption())
    .requiredOption('--account <gid>', 'the lender or partner')
    .action(async (options: AccountOptions) => {
      const input = { interfaceName: options.interface, accountId: options.account };
      const listed = await withContext((context) => listCredentials(context, input));
      print(options, listed, (credentials) =>
        formatTable(credentials, {
          client: (row) => row.clientId,
          version: (row) => row.schemaVersion,
          key: (row) => row.keyId,
          created: (row) => row.createdAt,
          expires: (row) => row.expiresAt,
          revoked: (row) => row.revokedAt,
          'last used': (row) => row.lastUsedAt,
        }),
      );
    });

  addVerb(noun, 'revoke <keyId>', 'revoke an API key; every interface rejects it within a second').action(
    async (keyId: string, options: OutputOptions) => {
      const revoked = await withContext((context) => revokeCredential(context, { keyId }));
      print(options, revoked, ({ revokedAt }) => `Revoked the key ${keyId} at ${revokedAt.toISOString()}`);
    },
  );
}
