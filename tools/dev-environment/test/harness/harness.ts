import { randomBytes } from 'node:crypto';
import {
  createWebhookSubscription,
  listLatestAttempts,
  listWebhookDeliveries,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import { roleOf, type Service, timeoutMaxSeconds } from '@deedwire/core';
import { createStore } from '@deedwire/store';
import { patientTimeouts } from '@deedwire/testing';
import { openActionContext } from './action-context.ts';
import { createAppsInProcess } from './apps-in-process.ts';
import { createMigratedDatabase, type OwnServer } from './database.ts';
import { createTestAccounts, type TestAccount } from './test-accounts.ts';
import type { Seeding, TestedApplication } from './tested-service.ts';

/**
 * A database with the accounts that `seed` creates, without their events. A test starts the apps that it needs in this process.
 *
 * @param seeding writes the first rows: that of another release, if `apply` applies its migrations
 * @param server as for `createMigratedDatabase`
 * @param apply as for `createMigratedDatabase`
 */
export async function createHarness<Served extends Service>(
  tested: TestedApplication<Served>,
  seeding: Seeding<Served>,
  server?: OwnServer,
  apply?: Parameters<typeof createMigratedDatabase>[2],
) {
  const { service, mainInterface } = tested;
  const database = await createMigratedDatabase(tested, server, apply);
  const secretKeys = new Map([['test', randomBytes(32)]]);
  const open = async (role: 'operator' | `${string}_api`, openStore?: typeof createStore) =>
    openActionContext(service, role, await database.urlFor(role), secretKeys, openStore);
  const operator = await open('operator', seeding.createStore);
  const api = await open(roleOf(mainInterface));
  const superuser = createStore({
    databaseUrl: database.databaseUrl,
    applicationName: 'test-superuser',
    timeouts: patientTimeouts,
  });
  const apps = createAppsInProcess(tested, database, secretKeys);
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
    service,
    interfaceNames: tested.interfaceNames,
    database,
    accounts,
    /** The operator's context. */
    operator,
    /** The context of the app of `mainInterface`. */
    api,
    sql,
    /**
     * Subscribes an account of `mainInterface`. An event type without a version is pinned to the current one.
     *
     * @param timeoutSeconds the most by default, because a busy machine delays responses
     */
    async subscribe(
      url: string,
      eventTypes: (string | { type: string; version: string })[],
      account: TestAccount = accounts[mainInterface],
      timeoutSeconds = timeoutMaxSeconds,
    ): Promise<{ id: string; secret: string }> {
      const result = await createWebhookSubscription(api, account, {
        callbackUrl: url,
        eventTypes: eventTypes.map((eventType) => (typeof eventType === 'string' ? { type: eventType } : eventType)),
        timeoutSeconds,
      });
      if (result.webhookSubscription === null || result.webhookSecret === null) {
        throw new Error(JSON.stringify(result.userErrors));
      }
      return { id: result.webhookSubscription.id, secret: result.webhookSecret };
    },
    /** The deliveries of an account of `mainInterface`, newest first. */
    async deliveries(
      account: TestAccount = accounts[mainInterface],
    ): Promise<(WebhookDelivery & { attempts: WebhookAttempt[] })[]> {
      const page = await listWebhookDeliveries(api, account, { first: 100 });
      const nodes = page.edges.map(({ node }) => node);
      const attempts = await listLatestAttempts(api, nodes);
      return nodes.map((node, index) => ({ ...node, attempts: attempts[index] ?? [] }));
    },
    /** Resets the count of handshakes per minute, for tests that need more than the limit of an account. */
    async forgetHandshakes(): Promise<void> {
      await sql('delete from webhook_handshake_count');
    },
    /** Stops all apps and drops the database. */
    async close(): Promise<void> {
      await apps.stopApps();
      await Promise.all([operator.close(), api.close(), superuser.close()]);
      await database.drop();
    },
  };
}
