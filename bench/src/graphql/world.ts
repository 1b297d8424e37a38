import { randomBytes } from 'node:crypto';
import { createLogin, withClient } from '@deedwire/embedded-postgres';
import { type Checkout, thisCheckout } from '../checkout/checkout.ts';
import { type Operator, startOperator } from '../checkout/operator.ts';
import type { BenchPostgres } from '../postgres.ts';
import { withCleanup } from '../with-cleanup.ts';
import { type Shape, shapes } from './shapes.ts';

export type World = Awaited<ReturnType<typeof createWorld>>;

export interface Caller {
  /** For our app. */
  credentials: Record<string, string>;
  /** The id of the account as in the database, for the peers, which trust it. */
  accountId: string;
}

/** The accounts that send each shape, by the name of the shape. */
export type Callers = ReadonlyMap<string, readonly Caller[]>;

const referrals = 120;

interface WorldOptions {
  /** Its operator CLI creates the accounts. */
  checkout?: Checkout;
  /** The name of its database. */
  database?: string;
  /** Of each shape. */
  accountsMax: number;
}

/** Creates a database with the accounts that send the queries. */
export async function createWorld(
  postgres: BenchPostgres,
  { checkout = thisCheckout, database = 'bench', accountsMax }: WorldOptions,
) {
  const databaseUrl = await postgres.createDatabase(database);
  const callers = await withCleanup(async (defer) => {
    const operator = await startOperator(checkout, databaseUrl, defer);
    const created = new Map<string, Caller[]>();
    for (const shape of shapes) created.set(shape.name, await createCallers(operator, shape, accountsMax));
    return created;
  });
  // The plans of all contestants rely on the same statistics.
  await withClient(databaseUrl, (client) => client.query('vacuum analyze'));
  // Logins belong to the server, not to the database.
  const loginFor = (role: string): Promise<string> => createLogin(databaseUrl, `${database}_${role}`, role);
  return {
    /** With the rights of a superuser, for the peers. */
    databaseUrl,
    /** The URL of the database for our app of each interface. */
    appDatabaseUrls: { lender: await loginFor('lender_api'), partner: await loginFor('partner_api') },
    /** As in WEBHOOK_SECRET_KEYS. */
    secretKeys: `bench:${randomBytes(32).toString('base64')}`,
    callers,
  };
}

async function createCallers(operator: Operator, shape: Shape, accountsMax: number): Promise<Caller[]> {
  const { interfaceName, members } = shape;
  const accounts = await operator.createAccounts(interfaceName, Math.min(shape.accounts, accountsMax));
  if (members === null) await createReferrals(operator, accounts);
  else await addMembers(operator, accounts, members);
  const clients = await operator.issueClients(interfaceName, accounts);
  return accounts.map((account, index) => ({
    credentials: clients[index] ?? {},
    accountId: account.split('/').at(-1) ?? '',
  }));
}

const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

async function addMembers({ run }: Operator, lenders: readonly string[], members: number): Promise<void> {
  await run(
    lenders.flatMap((lender) =>
      numbersTo(members).map((number) => {
        const member = [
          'member',
          'add',
          '--lender',
          lender,
          '--first-name',
          `Ada ${number}`,
          '--last-name',
          'Fairbank',
        ];
        return [...member, '--email', `ada.${number}@northwind.example`];
      }),
    ),
  );
}

/** Converts every second one, in the order of their creation, which is that of the page. */
async function createReferrals({ run, create }: Operator, partners: readonly string[]): Promise<void> {
  for (const partner of partners) {
    const created = await create(
      numbersTo(referrals).map((number) => {
        const referral = ['referral', 'create', '--partner', partner, '--client-name', `Client ${number}`];
        const details = ['--client-email', `client-${number}@example.com`, '--external-reference', `KEY-${number}`];
        return [...referral, ...details, '--note', 'Prefers calls after five, and asked for a fixed fee.'];
      }),
    );
    // Commands that run at the same time end in any order. The identifiers of a database have the same length.
    const converted = created.toSorted().filter((_, index) => index % 2 === 1);
    await run(converted.map((referral) => ['referral', 'convert', referral]));
  }
}
