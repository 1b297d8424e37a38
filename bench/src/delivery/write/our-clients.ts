import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { issueCredential, setClientLimit, systemRandom } from '@deedwire/actions';
import { type AccountId, formatAccountGid } from '@deedwire/domain';
import { createBenchStore } from '../../bench-store.ts';
import type { WriteContestant } from './contestant.ts';

const gidNamespace = 'service';

const mutation =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }';

/** The headers of one new client of each account. Their operations are not limited. */
export async function issueClients(
  databaseUrl: string,
  accounts: readonly AccountId[],
): Promise<Record<string, string>[]> {
  const store = createBenchStore(databaseUrl);
  const operator = { name: 'bench', host: hostname(), requestId: randomUUID() };
  const context = { store, gidNamespace, now: () => new Date(), random: systemRandom, operator };
  const headers: Record<string, string>[] = [];
  for (const account of accounts) {
    const accountId = formatAccountGid(gidNamespace, 'partner', account);
    const issued = await issueCredential(context, { interfaceName: 'partner', accountId, clientId: null });
    await setClientLimit(context, { clientId: issued.clientId, maximum: 1_000_000_000, restoreRate: 1_000_000_000 });
    headers.push({
      'Content-Type': 'application/json',
      'X-Service-Client-Id': issued.clientId,
      'X-Service-API-Key': issued.apiKey,
      'X-Service-Organization-Id': issued.organizationId,
    });
  }
  await store.close();
  return headers;
}

/** A request that creates a referral. */
export function createReferralRequest(
  url: string,
  headers: readonly Record<string, string>[],
  input: object,
): WriteContestant['request'] {
  const { origin, pathname } = new URL(url);
  const body = JSON.stringify({ query: mutation, variables: { input } });
  return { origin, path: pathname, headers, body, leastBytes: 60 };
}
