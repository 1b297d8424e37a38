import { randomBytes } from 'node:crypto';
import {
  addTeamMember,
  convertReferral,
  createAccount,
  createOrganization,
  createReferralForPartner,
  type OperatorContext,
} from '@deedwire/actions';
import { createLogin, withClient } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { issueClient, operatorContext } from '../delivery/write/our-clients.ts';
import { createBenchStore } from '../postgres.ts';
import { type Shape, shapes } from './shapes.ts';

export type World = Awaited<ReturnType<typeof createWorld>>;

export interface Caller {
  /** For our app. */
  credentials: Record<string, string>;
  /** The id of the account as in the database, for the peers, which trust it. */
  accountId: string;
}

const referrals = 120;

/**
 * The accounts that send the queries, in a migrated database.
 *
 * @param databaseUrl an empty database
 * @param accountsMax of each shape
 */
export async function createWorld(databaseUrl: string, accountsMax: number) {
  await migrate(databaseUrl);
  const store = createBenchStore(databaseUrl);
  const context = operatorContext(store);
  const organization = await createOrganization(context, { name: 'Bench' });
  const callers = new Map<string, Caller[]>();
  for (const shape of shapes) {
    const accounts = Array.from({ length: Math.min(shape.accounts, accountsMax) }, () =>
      createCaller(context, organization.id, shape),
    );
    // The store has few connections.
    callers.set(shape.name, await Promise.all(accounts));
  }
  await store.close();
  // The plans of all contestants rely on the same statistics.
  await withClient(databaseUrl, (client) => client.query('vacuum analyze'));
  return {
    /** With the rights of a superuser, for the peers. */
    databaseUrl,
    /** The URL of the database for our app of each interface. */
    appDatabaseUrls: {
      lender: await createLogin(databaseUrl, 'bench_lender_api', 'lender_api'),
      partner: await createLogin(databaseUrl, 'bench_partner_api', 'partner_api'),
    },
    /** As in WEBHOOK_SECRET_KEYS. */
    secretKeys: `bench:${randomBytes(32).toString('base64')}`,
    /** The accounts that send a shape, by the name of the shape. */
    callers,
  };
}

async function createCaller(context: OperatorContext, organizationId: string, shape: Shape): Promise<Caller> {
  const account = await fillAccount(context, organizationId, shape);
  const credentials = await issueClient(context, shape.interfaceName, account);
  return { credentials, accountId: account.split('/').at(-1) ?? '' };
}

async function fillAccount(context: OperatorContext, organizationId: string, { members }: Shape): Promise<string> {
  if (members === null) return createPartnerWithReferrals(context, organizationId);
  const { id } = await createAccount(context, 'lender', { organizationId, name: 'Northwind Building Society' });
  for (let number = 1; number <= members; number += 1) {
    const details = { firstName: `Ada ${number}`, lastName: 'Fairbank', email: `ada.${number}@northwind.example` };
    await addTeamMember(context, { lenderId: id, ...details });
  }
  return id;
}

async function createPartnerWithReferrals(context: OperatorContext, organizationId: string): Promise<string> {
  const partner = await createAccount(context, 'partner', { organizationId, name: 'Keystone Estate Agents' });
  for (let number = 1; number <= referrals; number += 1) {
    const { id } = await createReferralForPartner(context, {
      partnerId: partner.id,
      clientName: `Client ${number}`,
      clientEmail: `client-${number}@example.com`,
      externalReference: `KEY-${number}`,
      note: 'Prefers calls after five, and asked for a fixed fee.',
    });
    if (number % 2 === 0) await convertReferral(context, { referralId: id });
  }
  return partner.id;
}
