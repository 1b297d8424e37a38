import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { issueCredential, type OperatorContext, setClientLimit, systemRandom } from '@deedwire/actions';
import { type AccountId, formatAccountGid } from '@deedwire/core';
import { firm, type InterfaceName } from '@deedwire/firm';
import type { Store } from '@deedwire/store';
import { createBenchStore } from '../../postgres.ts';
import type { WriteContestant } from './rounds.ts';

const gidNamespace = 'service';

const mutation =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }';

/** The context in which the bench prepares accounts. */
export function operatorContext(store: Store): OperatorContext {
  const operator = { name: 'bench', host: hostname(), requestId: randomUUID() };
  return { store, service: firm, gidNamespace, now: () => new Date(), random: systemRandom, operator };
}

/** The headers of a new client of an account. Its operations are charged, but not limited. */
export async function issueClient(
  context: OperatorContext,
  interfaceName: InterfaceName,
  accountId: string,
): Promise<Record<string, string>> {
  const issued = await issueCredential(context, { interfaceName, accountId, clientId: null });
  await setClientLimit(context, { clientId: issued.clientId, maximum: 1_000_000_000, restoreRate: 1_000_000_000 });
  return {
    'X-Service-Client-Id': issued.clientId,
    'X-Service-API-Key': issued.apiKey,
    'X-Service-Organization-Id': issued.organizationId,
  };
}

/** The headers of one new client of each account. */
export async function issueClients(
  databaseUrl: string,
  accounts: readonly AccountId[],
): Promise<Record<string, string>[]> {
  const store = createBenchStore(databaseUrl);
  const headers: Record<string, string>[] = [];
  for (const account of accounts) {
    const accountId = formatAccountGid(operatorContext(store), 'partner', account);
    const client = await issueClient(operatorContext(store), 'partner', accountId);
    headers.push({ 'Content-Type': 'application/json', ...client });
  }
  await store.close();
  return headers;
}

/** What every bench creates. `{n}` stands for a number that no other request has. */
export const referralInput = {
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  externalReference: 'bench-{n}',
};

/** A request that creates a referral. */
export function createReferralRequest(
  url: string,
  headers: readonly Record<string, string>[],
  input: object = referralInput,
): WriteContestant['request'] {
  const { origin, pathname } = new URL(url);
  const body = JSON.stringify({ query: mutation, variables: { input } });
  return { origin, path: pathname, headers, body, leastBytes: 60 };
}
