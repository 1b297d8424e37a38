import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOperator } from '@deedwire/dev-environment/test/firm/harness';
import { convertReferral } from '@deedwire/firm/partner';
import { eventually, missing } from '@deedwire/testing';
import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { Pool } from 'pg';
import { expect, onTestFinished } from 'vitest';
import { attemptKey } from '../../support/faults/judge.ts';
import { receiverDatabase } from '../../support/receiver-kit/lossy-push.ts';
import type { FaultSystem } from './fault-system.ts';

// What is tested when the database of a running system has returned to an earlier state.

export interface Comparison {
  accepted: number;
  /** Accepted, and not in the database. */
  lostEvents: number;
  /** Delivered, and not in the database. */
  lostDeliveries: number;
  /** Sequences of a subscription with two deliveries: one that is lost, and a later one. */
  reusedSequences: number;
  /** Events with two deliveries to a subscription: the database has the event, but has lost the first delivery of it. */
  deliveredAnew: number;
  /** Requests that repeat an attempt. */
  repeats: number;
}

/**
 * Waits until nothing is queued or pending, and expects that the database and the receivers agree about each event that the
 * database has, and that no sequence has a gap.
 *
 * @param kept how many accepted events must not be lost: those that were accepted first
 */
export async function expectAgreement(system: FaultSystem, kept: number): Promise<Comparison> {
  const { observer, received, accepted, subscriptions } = system;
  await eventually(async () => {
    const [left] = await observer.run(
      `select (select count(*)::int from webhook_event_queue) as queued,
         (select count(*)::int from webhook_pending_delivery) as pending,
         (select count(*)::int from webhook_failed_delivery) as failed`,
    );
    expect(left).toEqual({ queued: 0, pending: 0, failed: 0 });
  }, 180_000);
  const stored = await observer.run(
    'select id::text, subscription_id::text as subscription, sequence::int from webhook_delivery order by subscription_id, sequence',
  );
  const referrals = new Set((await observer.run('select id::text from referral')).map(({ id }) => String(id)));
  const read = await accepted.read();
  const lost = read
    .map(({ recordId }, index) => ({ recordId, index }))
    .filter(({ recordId }) => !referrals.has(idOf(recordId)));
  expect(lost.filter(({ index }) => index < kept)).toEqual([]);

  const requests = received.deliveries;
  expect(requests.filter(({ isAuthentic }) => !isAuthentic)).toEqual([]);
  const first = new Map<string, (typeof requests)[number]>();
  for (const request of requests) {
    const known = first.get(request.webhookId) ?? request;
    first.set(request.webhookId, known);
    expect([request.digest, request.sequence]).toEqual([known.digest, known.sequence]);
  }
  const ids = new Set([...first.keys()].map(idOf));
  expect(stored.filter(({ id }) => !ids.has(String(id)))).toEqual([]);
  for (const subscription of subscriptions.keys()) {
    const sequences = stored
      .filter((row) => row['subscription'] === idOf(subscription))
      .map(({ sequence }) => sequence);
    expect(sequences).toEqual(Array.from(sequences, (_, index) => index + 1));
  }
  // Each event of the database was delivered to each subscription of its account.
  const pairs = new Set(requests.map(({ subscriptionId, recordId }) => `${subscriptionId} ${recordId}`));
  const undelivered = read
    .filter(({ recordId }) => referrals.has(idOf(recordId)))
    .flatMap(({ accountId, recordId }) =>
      [...subscriptions]
        .filter(([, owner]) => owner === accountId)
        .map(([subscriptionId]) => `${subscriptionId} ${recordId}`),
    )
    .filter((pair) => !pairs.has(pair));
  expect(undelivered).toEqual([]);

  const known = new Set(stored.map(({ id }) => String(id)));
  const places = [...first.values()].map(({ subscriptionId, sequence }) => `${subscriptionId} ${sequence}`);
  return {
    accepted: read.length,
    lostEvents: lost.length,
    lostDeliveries: [...ids].filter((id) => !known.has(id)).length,
    reusedSequences: places.length - new Set(places).size,
    deliveredAnew: first.size - pairs.size,
    repeats: requests.length - new Set(requests.map(attemptKey)).size,
  };
}

/** Converts accepted referrals, and returns the numbers in the references of their matters. */
export async function openMatters({ t, accepted, observer }: FaultSystem, count: number): Promise<number[]> {
  const open = await observer.run(`select id::text from referral where status = 'OPEN'`);
  const ids = new Set(open.map(({ id }) => String(id)));
  const chosen = (await accepted.read()).filter(({ recordId }) => ids.has(idOf(recordId))).slice(0, count);
  expect(chosen).toHaveLength(count);
  for (const { recordId } of chosen) await convertReferral(t.operator, { referralId: recordId });
  const rows = await observer.run('select reference from matter where referral_id = any ($1::bigint[])', [
    chosen.map(({ recordId }) => idOf(recordId)),
  ]);
  return rows.map(({ reference }) => Number(String(reference).split('-').at(-1)));
}

/** A receiver made with the kit, which reads the events of one subscription. */
export interface PullingReceiver {
  subscriptionId: string;
  /** Reads what is new. Returns how the run ended. */
  reconcile(): Promise<string>;
  /** Deletes the position, as the README of the kit says. */
  reset(): Promise<void>;
}

export async function startPullingReceiver(system: FaultSystem): Promise<PullingReceiver> {
  const { accountId } = system.accounts[0] ?? missing();
  const [subscriptionId] = [...system.subscriptions].find(([, owner]) => owner === accountId) ?? missing();
  const database = await receiverDatabase('create table effect (delivery_id text primary key)');
  const pool = new Pool({ connectionString: database.databaseUrl });
  onTestFinished(() => pool.end());
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    store: postgresStore(pool),
    on: {
      'referral.created': {
        // The primary key refuses a second effect.
        '2026-11-01': async (_, { transaction, id }) =>
          void (await transaction.query('insert into effect (delivery_id) values ($1)', [id])),
      },
    },
  });
  const { partner: url } = system.t.urls;
  const pull = graphqlPull({ prefix: 'X-Service', url, credentials: system.credentialOf(accountId), subscriptionId });
  return {
    subscriptionId,
    reconcile: async () => (await receiver.reconcile(pull)).end,
    async reset() {
      await database.run(`update webhook_receipt_pull set position = null where subscription_id = '${subscriptionId}'`);
    },
  };
}

/** What `deedwire-operator subscription reconcile` finds when it compares a subscription with the log of its receiver. */
export async function reconcileLog(
  { t, received }: FaultSystem,
  subscriptionId: string,
): Promise<{ missing: unknown[]; altered: unknown[]; unexpected: { id: string }[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  const log = join(folder, 'received.log');
  const own = received.deliveries.filter((delivery) => delivery.subscriptionId === subscriptionId);
  await writeFile(log, own.map(({ webhookId }) => webhookId).join('\n'));
  const env = { DATABASE_URL: await t.database.urlFor('operator') };
  const { stdout, stderr } = await callOperator(
    env,
    'subscription',
    'reconcile',
    subscriptionId,
    '--log',
    log,
    '--json',
  );
  await rm(folder, { recursive: true });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

/**
 * Expects that neither the rows nor the check show that matter numbers were lost, and that the next ones would be lost ones; then
 * leaves them out with the command of the operator, and expects that the next matter has an unused number.
 */
export async function leaveOutMatterNumbers(system: FaultSystem, given: readonly number[]): Promise<void> {
  const env = { DATABASE_URL: await system.t.database.urlFor('operator') };
  const highest = Math.max(...given);
  const checked = await callOperator(env, 'database', 'check', '--json');
  expect([checked.exitCode, checked.stderr]).toEqual([0, '']);
  const { sequences }: { sequences: { name: string; lastNumber: string; isBehind: boolean }[] } = JSON.parse(
    checked.stdout,
  );
  const { lastNumber, isBehind } = sequences.find(({ name }) => name === 'matter_number') ?? missing();
  expect(isBehind).toBe(false);
  expect(Number(lastNumber)).toBeLessThan(highest);
  expect(await callOperator(env, 'database', 'advance-sequences', '--matter-number', String(highest))).toEqual({
    exitCode: 0,
    stdout: `Advanced matter_number from ${lastNumber} to ${highest}\n`,
    stderr: '',
  });
  const [next = missing()] = await openMatters(system, 1);
  expect(next).toBeGreaterThan(highest);
}

const idOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1);
