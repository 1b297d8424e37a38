import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  addTeamMember,
  createLender,
  createOrganization,
  createPartner,
  createReferralForPartner,
  issueCredential,
  listCredentials,
  listReferralsOfPartner,
  systemRandom,
  type OperatorContext,
} from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/domain';
import type { Store } from '@deedwire/store';
import type { DevAccount, DevSeed } from './dev-state.ts';

/** What writes the first rows of a database. */
export interface Seeding {
  seed: typeof seed;
  ensureOpenReferrals: typeof ensureOpenReferrals;
}

const openReferrals = 25;

/** The context of an operator who seeds a database. */
export function seedContext(store: Store, gidNamespace: string): OperatorContext {
  const operator = { name: 'seed', host: hostname(), requestId: randomUUID() };
  return { store, gidNamespace, now: () => new Date(), random: systemRandom, operator };
}

/** Creates two organizations, each with a lender and a partner, and a credential for each of the four accounts. */
export async function seed(context: OperatorContext): Promise<DevSeed> {
  const harbour = await createOrganization(context, { name: 'Harbour Conveyancing' });
  const lender = await createLender(context, { organizationId: harbour.id, name: 'Northwind Building Society' });
  const people = [
    ['Ada', 'Fairbank', 'ada.fairbank@northwind.example'],
    ['Ben', 'Okoro', 'ben.okoro@northwind.example'],
    ['Chloé', 'Marchand', 'chloe.marchand@northwind.example'],
  ] as const;
  for (const [firstName, lastName, email] of people) {
    await addTeamMember(context, { lenderId: lender.id, firstName, lastName, email });
  }
  const partner = await createPartner(context, { organizationId: harbour.id, name: 'Keystone Estate Agents' });

  const elsewhere = await createOrganization(context, { name: 'Moorland Legal' });
  const otherLender = await createLender(context, { organizationId: elsewhere.id, name: 'Southgate Mortgages' });
  const otherPartner = await createPartner(context, { organizationId: elsewhere.id, name: 'Bellweather Homes' });
  return {
    lender: await newAccount(context, 'lender', lender.id),
    partner: await newAccount(context, 'partner', partner.id),
    otherLender: await newAccount(context, 'lender', otherLender.id),
    otherPartner: await newAccount(context, 'partner', otherPartner.id),
  };
}

async function newAccount(context: OperatorContext, interfaceName: InterfaceName, id: string): Promise<DevAccount> {
  const credential = await issueCredential(context, { interfaceName, accountId: id, clientId: null });
  return { interfaceName, id, credential };
}

/** Returns the accounts with valid credentials. A revoked or expired credential is replaced by a new one. */
export async function withLiveCredentials(context: OperatorContext, accounts: DevSeed): Promise<DevSeed> {
  return ofAccounts((name) => withLiveCredential(context, accounts[name]));
}

/** A value for each account. */
export async function ofAccounts<Value>(valueOf: (name: keyof DevSeed) => Value | Promise<Value>) {
  return {
    lender: await valueOf('lender'),
    partner: await valueOf('partner'),
    otherLender: await valueOf('otherLender'),
    otherPartner: await valueOf('otherPartner'),
  };
}

async function withLiveCredential(context: OperatorContext, account: DevAccount): Promise<DevAccount> {
  const { interfaceName, id, credential } = account;
  const keyId = parseApiKey(credential.apiKey)?.keyId;
  const now = new Date();
  const live = (await listCredentials(context, { interfaceName, accountId: id })).some(
    (key) => key.keyId === keyId && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now),
  );
  return live ? account : newAccount(context, interfaceName, id);
}

/** Creates referrals until the partner has 25 open ones. Returns the ids of the open ones, oldest first. */
export async function ensureOpenReferrals(context: OperatorContext, partnerId: string): Promise<string[]> {
  const page = await listReferralsOfPartner(context, { partnerId, status: 'OPEN', first: 100 });
  const open = page.edges.map(({ node }) => node.id).toReversed();
  for (let count = open.length; count < openReferrals; count += 1) {
    const number = String(count + 1).padStart(3, '0');
    const { id } = await createReferralForPartner(context, {
      partnerId,
      clientName: `Client ${number}`,
      clientEmail: `client-${number}@example.com`,
      externalReference: `KEY-${number}`,
      note: null,
    });
    open.push(id);
  }
  return open;
}
