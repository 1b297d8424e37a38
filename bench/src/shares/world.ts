import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createOrganization,
  createPartner,
  issueCredential,
  type OperatorContext,
  systemRandom,
} from '@deedwire/actions';
import { createLogin } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { createBenchStore } from '../bench-store.ts';

/** Partners in a migrated database, with the limits that every client has. */
export interface SharesWorld {
  /** The URL of the database for the app. */
  databaseUrl: string;
  /** As in WEBHOOK_SECRET_KEYS. */
  secretKeys: string;
  /** The headers of its requests. */
  victim: Record<string, string>;
  /** The headers of each: a bucket of an attacker is full once. */
  attackers: Record<string, string>[];
}

/** @param databaseUrl an empty database */
export async function createSharesWorld(databaseUrl: string, attackerCount: number): Promise<SharesWorld> {
  await migrate(databaseUrl);
  const store = createBenchStore(databaseUrl);
  const operator = { name: 'bench', host: hostname(), requestId: randomUUID() };
  const context = { store, gidNamespace: 'service', now: () => new Date(), random: systemRandom, operator };
  const victim = await createClient(context);
  const attackers: SharesWorld['attackers'] = [];
  while (attackers.length < attackerCount) attackers.push(await createClient(context));
  await store.close();
  return {
    databaseUrl: await createLogin(databaseUrl, 'bench_partner_api', 'partner_api'),
    secretKeys: `bench:${randomBytes(32).toString('base64')}`,
    victim,
    attackers,
  };
}

async function createClient(context: OperatorContext): Promise<Record<string, string>> {
  const organization = await createOrganization(context, { name: 'Bench' });
  const { id } = await createPartner(context, { organizationId: organization.id, name: 'Keystone Estate Agents' });
  const issued = await issueCredential(context, { interfaceName: 'partner', accountId: id, clientId: null });
  return {
    'Content-Type': 'application/json',
    'X-Service-Client-Id': issued.clientId,
    'X-Service-API-Key': issued.apiKey,
    'X-Service-Organization-Id': issued.organizationId,
  };
}
