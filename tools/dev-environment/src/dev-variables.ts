import type { InterfaceName } from '@deedwire/domain';
import type { DevCaller } from './dev-file.ts';
import type { DevAccount } from './dev-state.ts';

const idNames: Record<InterfaceName, string> = { lender: 'LENDER_ID', partner: 'PARTNER_ID' };

/**
 * The content of `<home>/dev.env`, of the sample partner, and of `<home>/lender.env`: an account's URL, credentials and webhook
 * secret as variables for POSIX shells, under the names that the programs of the documentation read. No value contains a single
 * quote: all of them are URLs, generated keys or global identifiers.
 */
export function devVariables(caller: DevCaller, { interfaceName, id }: DevAccount, webhookSecret: string): string {
  const variables = {
    DEEDWIRE_URL: caller.url,
    CLIENT_ID: caller.clientId,
    API_KEY: caller.apiKey,
    ORGANIZATION_ID: caller.organizationId,
    WEBHOOK_SECRET: webhookSecret,
    [idNames[interfaceName]]: id,
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
