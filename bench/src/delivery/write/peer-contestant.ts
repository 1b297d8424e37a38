import { withClient } from '@deedwire/embedded-postgres';
import { startChild } from '../../child.ts';
import type { ProcessUsage } from '../../rounds.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { WritePeerName } from '../peer-names.ts';
import { referralInput } from './our-clients.ts';
import type { WriteContestant } from './rounds.ts';

/** Our table of referrals, with the columns, checks and indexes that an insert touches. */
const createReferralTable = `
  create table account (id bigint primary key);
  insert into account values (1);
  create table referral (
    id bigint primary key generated always as identity,
    account_id bigint not null references account,
    status text not null default 'OPEN' check (status in ('OPEN', 'CONVERTED', 'DECLINED')),
    client_name text not null,
    client_email text,
    external_reference text,
    note text,
    created_at timestamptz(3) not null default now(),
    closed_at timestamptz(3),
    decline_reason text,
    check ((status = 'OPEN') = (closed_at is null))
  );
  create index on referral (account_id, id);
  create index on referral (account_id, status, id);
  create index on referral (account_id, external_reference, status, id) where external_reference is not null`;

/**
 * Starts the API and the worker of a peer.
 *
 * @param databaseUrl an empty database
 */
export async function startWritePeer(
  name: WritePeerName,
  databaseUrl: string,
  origin: string,
  defer: Defer,
): Promise<WriteContestant> {
  await withClient(databaseUrl, (client) => client.query(createReferralTable));
  const start = (role: 'api' | 'worker') =>
    startChild<string, ProcessUsage>(
      defer,
      './delivery/write/peer-process.ts',
      role,
      name,
      databaseUrl,
      JSON.stringify([`${origin}/hooks`]),
    );
  // Installs the queue.
  const worker = await start('worker');
  const api = await start('api');
  const url = new URL(api.ready);
  return {
    name,
    request: {
      origin: url.origin,
      path: url.pathname,
      headers: [{ 'Content-Type': 'application/json' }],
      body: JSON.stringify(referralInput),
      leastBytes: '{"id":"1"}'.length,
    },
    async settledCpuMs() {
      const { cpuMs } = await worker.ask('usage');
      return { worker: cpuMs, api: (await api.ask('usage')).cpuMs };
    },
  };
}
