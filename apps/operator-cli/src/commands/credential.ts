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
  const noun = program.command('credential').description('what API clients authenticate with');

  addVerb(noun, 'issue', 'issue an API key, shown this once')
    .addOption(interfaceOption())
    .requiredOption('--account <gid>', 'the lender or partner')
    .option('--client <id>', 'one more key for this client; without it, a new client')
    .option('--schema-version <date>', 'the version that the new client is pinned to; without it, the current one')
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
          'The API key cannot be shown again.',
          `X-Service-Client-Id: ${clientId}`,
          `X-Service-API-Key: ${apiKey}`,
          `X-Service-Organization-Id: ${organizationId}`,
        ].join('\n'),
      );
    });

  addVerb(noun, 'list', 'list the keys of an account, without their secrets')
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

  addVerb(noun, 'revoke <keyId>', 'revoke a key; it is refused everywhere within a second').action(
    async (keyId: string, options: OutputOptions) => {
      const revoked = await withContext((context) => revokeCredential(context, { keyId }));
      print(options, revoked, ({ revokedAt }) => `The key ${keyId} is revoked since ${revokedAt.toISOString()}`);
    },
  );
}
