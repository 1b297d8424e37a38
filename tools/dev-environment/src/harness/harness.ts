import { randomBytes } from 'node:crypto';
import {
  convertReferral,
  createReferral,
  createWebhookSubscription,
  listLatestAttempts,
  listWebhookDeliveries,
  type OperatorContext,
  type WebhookActionContext,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { createStore } from '@deedwire/store';
import { patientTimeouts } from '@deedwire/testing';
import { openActionContext } from './action-context.ts';
import { createAppsInProcess, type AppsInProcess } from './apps-in-process.ts';
import { createMigratedDatabase } from './database.ts';
import { createTestAccounts, type TestAccount, type TestAccounts } from './test-accounts.ts';

/** A database with the accounts that `seed` creates. A test starts the apps that it needs in this process. */
export interface Harness extends AppsInProcess {
  database: TestDatabase;
  accounts: TestAccounts;
  /** The operator's context. */
  operator: WebhookActionContext & OperatorContext;
  /** The partner API's context. */
  partnerApi: WebhookActionContext;
  /** Runs a statement as a superuser. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Subscribes a partner. An event type without a version is pinned to the current one. */
  subscribe(
    url: string,
    eventTypes: (string | { type: string; version: string })[],
    partner?: TestAccount,
  ): Promise<{ id: string; secret: string }>;
  /** Creates referrals of a partner, one after the other, and returns their ids. */
  refer(count: number, partner?: TestAccount): Promise<string[]>;
  convert(referralId: string): Promise<void>;
  /** The deliveries of `accounts.partner`, newest first. */
  deliveries(): Promise<(WebhookDelivery & { attempts: WebhookAttempt[] })[]>;
  /** Resets the count of handshakes per minute, for tests that need more than the limit of an account. */
  forgetHandshakes(): Promise<void>;
  /** Stops all apps and drops the database. */
  close(): Promise<void>;
}

/** The parameters are those of `createMigratedDatabase`. */
export async function createHarness(...parameters: Parameters<typeof createMigratedDatabase>): Promise<Harness> {
  const database = await createMigratedDatabase(...parameters);
  const secretKeys = new Map([['test', randomBytes(32)]]);
  const operator = openActionContext('operator', await database.urlFor('operator'), secretKeys);
  const partnerApi = openActionContext('partner_api', await database.urlFor('partner_api'), secretKeys);
  const superuser = createStore({
    databaseUrl: database.databaseUrl,
    applicationName: 'test-superuser',
    timeouts: patientTimeouts,
  });
  const apps = createAppsInProcess(database, secretKeys);
  const accounts = await createTestAccounts(operator);
  let statements = 0;

  const sql: Harness['sql'] = (text, values = []) =>
    superuser.query({ name: `test-${(statements += 1)}`, text }, values);

  return {
    ...apps,
    database,
    accounts,
    operator,
    partnerApi,
    sql,
    async subscribe(url, eventTypes, partner = accounts.partner) {
      const result = await createWebhookSubscription(partnerApi, partner, {
        callbackUrl: url,
        eventTypes: eventTypes.map((eventType) => (typeof eventType === 'string' ? { type: eventType } : eventType)),
      });
      if (result.webhookSubscription === null || result.webhookSecret === null) {
        throw new Error(JSON.stringify(result.userErrors));
      }
      return { id: result.webhookSubscription.id, secret: result.webhookSecret };
    },
    async refer(count, partner = accounts.partner) {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { referral } = await createReferral(partnerApi, partner, { clientName: `Client ${index}` });
        ids.push(referral?.id ?? '');
      }
      return ids;
    },
    async convert(referralId) {
      await convertReferral(operator, { referralId });
    },
    async deliveries() {
      const page = await listWebhookDeliveries(partnerApi, accounts.partner, { first: 100 });
      const nodes = page.edges.map(({ node }) => node);
      const attempts = await listLatestAttempts(partnerApi, nodes);
      return nodes.map((node, index) => ({ ...node, attempts: attempts[index] ?? [] }));
    },
    async forgetHandshakes() {
      await sql('delete from webhook_handshake_count');
    },
    async close() {
      await apps.stopApps();
      await Promise.all([operator.close(), partnerApi.close(), superuser.close()]);
      await database.drop();
    },
  };
}
