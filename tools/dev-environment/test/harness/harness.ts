import { randomBytes } from 'node:crypto';
import {
  createWebhookSubscription,
  listLatestAttempts,
  listWebhookDeliveries,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import { convertReferral, createReferral } from '@deedwire/firm/partner';
import { createStore } from '@deedwire/store';
import { patientTimeouts } from '@deedwire/testing';
import type { Seeding } from '../../src/seed.ts';
import { openActionContext } from './action-context.ts';
import { createAppsInProcess } from './apps-in-process.ts';
import { createMigratedDatabase } from './database.ts';
import { createTestAccounts, type TestAccount } from './test-accounts.ts';

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/**
 * A database with the accounts that `seed` creates, without their events. A test starts the apps that it needs in this process.
 *
 * @param server as for `createMigratedDatabase`
 * @param apply as for `createMigratedDatabase`
 * @param seeding writes the first rows: that of another release, if `apply` applies its migrations
 */
export async function createHarness(
  server?: Parameters<typeof createMigratedDatabase>[0],
  apply?: Parameters<typeof createMigratedDatabase>[1],
  seeding?: Seeding,
) {
  const database = await createMigratedDatabase(server, apply);
  const secretKeys = new Map([['test', randomBytes(32)]]);
  const operator = openActionContext('operator', await database.urlFor('operator'), secretKeys, seeding?.createStore);
  const partnerApi = openActionContext('partner_api', await database.urlFor('partner_api'), secretKeys);
  const superuser = createStore({
    databaseUrl: database.databaseUrl,
    applicationName: 'test-superuser',
    timeouts: patientTimeouts,
  });
  const apps = createAppsInProcess(database, secretKeys);
  const accounts = await createTestAccounts(operator, seeding);
  let statements = 0;

  /** Runs a statement as a superuser. */
  const sql = (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    superuser.query({ name: `test-${(statements += 1)}`, text }, values);

  // Those of the keys, which no subscription receives.
  await sql('delete from webhook_event_queue');
  await sql('delete from webhook_event');

  return {
    ...apps,
    database,
    accounts,
    /** The operator's context. */
    operator,
    /** The partner API's context. */
    partnerApi,
    sql,
    /** Subscribes a partner. An event type without a version is pinned to the current one. */
    async subscribe(
      url: string,
      eventTypes: (string | { type: string; version: string })[],
      partner: TestAccount = accounts.partner,
    ): Promise<{ id: string; secret: string }> {
      const result = await createWebhookSubscription(partnerApi, partner, {
        callbackUrl: url,
        eventTypes: eventTypes.map((eventType) => (typeof eventType === 'string' ? { type: eventType } : eventType)),
      });
      if (result.webhookSubscription === null || result.webhookSecret === null) {
        throw new Error(JSON.stringify(result.userErrors));
      }
      return { id: result.webhookSubscription.id, secret: result.webhookSecret };
    },
    /** Creates referrals of a partner, one after the other, and returns their ids. */
    async refer(count: number, partner: TestAccount = accounts.partner): Promise<string[]> {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { referral } = await createReferral(partnerApi, partner, { clientName: `Client ${index}` });
        ids.push(referral?.id ?? '');
      }
      return ids;
    },
    async convert(referralId: string): Promise<void> {
      await convertReferral(operator, { referralId });
    },
    /** The deliveries of a partner, newest first. */
    async deliveries(
      partner: TestAccount = accounts.partner,
    ): Promise<(WebhookDelivery & { attempts: WebhookAttempt[] })[]> {
      const page = await listWebhookDeliveries(partnerApi, partner, { first: 100 });
      const nodes = page.edges.map(({ node }) => node);
      const attempts = await listLatestAttempts(partnerApi, nodes);
      return nodes.map((node, index) => ({ ...node, attempts: attempts[index] ?? [] }));
    },
    /** Resets the count of handshakes per minute, for tests that need more than the limit of an account. */
    async forgetHandshakes(): Promise<void> {
      await sql('delete from webhook_handshake_count');
    },
    /** Stops all apps and drops the database. */
    async close(): Promise<void> {
      await apps.stopApps();
      await Promise.all([operator.close(), partnerApi.close(), superuser.close()]);
      await database.drop();
    },
  };
}
