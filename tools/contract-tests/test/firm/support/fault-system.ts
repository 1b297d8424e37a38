import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { ReferDocument } from '../../../consumers/referral-portal/generated/2026-11-01.ts';
import { createClientAccounts } from '../../support/client-accounts.ts';
import {
  createFaultSystem,
  type FaultSystem as FaultSystemOf,
  type FaultSystemOptions,
  type LoadedInterface,
} from '../../support/faults/fault-system.ts';
import type { WriteRecord } from '../../support/faults/load.ts';
import type { Release } from './last-release.ts';

export type FaultSystem = FaultSystemOf<TestSystem>;

export const refer: WriteRecord = async (client, idempotencyKey) => {
  const { status, errors, data } = await client.send(ReferDocument, { input: { clientName: 'Ada', idempotencyKey } });
  return { status, errors, record: data?.createReferral.referral, userErrors: data?.createReferral.userErrors };
};

const partnerInterface: LoadedInterface<'partner-api'> = {
  api: 'partner-api',
  path: '/partners/graphql',
  role: 'partner_api',
  write: refer,
  insert: 'insert-referrals',
  eventType: 'referral.created',
  idIn: 'referralId',
};

interface Options extends FaultSystemOptions<keyof TestSystem['system']['apps']> {
  /** Another release, whose migrations are applied and whose apps are started first. Needs `server`. */
  release?: Release;
}

/** Starts one API and one worker of the law firm: only it has earlier releases. */
export async function startFaultSystem({ leaseMs, accounts, release, ...further }: Options): Promise<FaultSystem> {
  const t = await startTestSystem({
    apps: ['partner-api', 'webhook-worker'],
    ...further,
    ...(release && {
      workspace: release.folder,
      apply: (url) => release.migrate(url),
      seeding: await release.seeding(),
    }),
    appEnv: { 'webhook-worker': { WORKER_LEASE_MS: String(leaseMs) } },
    ports: { 'partner-api': await findFreePort() },
  });
  return createFaultSystem(
    t,
    partnerInterface,
    await createClientAccounts('partner', t, accounts, await release?.actions()),
  );
}
