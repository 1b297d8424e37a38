import { randomBytes } from 'node:crypto';
import {
  convertReferral,
  createLender,
  createOrganization,
  createPartner,
  createReferral,
  createWebhookSubscription,
  listWebhookAttempts,
  listWebhookDeliveries,
  type Caller,
  type WebhookActionContext,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { createLogger } from '@deedwire/service-runtime';
import { createNotifier, createSecretKeyRing, createStore, migrate } from '@deedwire/store';
import { createWebhookSender } from '@deedwire/webhook-sender';
import { Registry } from 'prom-client';
import type { WorkerConfig } from '../../src/config.ts';
import { createWorker, type Worker } from '../../src/worker.ts';

/** A database with a partner and a lender, what the APIs would do for them, and workers in this process. */
export interface Harness {
  database: TestDatabase;
  /** As the partner API acts. */
  api: WebhookActionContext;
  /** As the operator acts. */
  operator: WebhookActionContext;
  partner: Caller & { gid: string };
  lender: Caller & { gid: string };
  /** Starts a worker and waits until it works. */
  startWorker(config?: Partial<WorkerConfig>): Promise<Worker>;
  stopWorker(worker: Worker): Promise<void>;
  /** The metrics of the first worker, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** As a superuser: looks behind the scenes, and moves time. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Another partner, which acts as the first does. */
  addPartner(): Promise<Caller & { gid: string }>;
  /** An event type without a version is pinned to the current one. */
  subscribe(
    url: string,
    eventTypes: (string | { type: string; version: string })[],
    caller?: Caller,
  ): Promise<{ id: string; secret: string }>;
  /** Creates referrals of the partner, one after the other. */
  refer(count: number, caller?: Caller): Promise<string[]>;
  convert(referralId: string): Promise<void>;
  deliveries(): Promise<(WebhookDelivery & { attempts: WebhookAttempt[] })[]>;
  close(): Promise<void>;
}

const keys = new Map([['test', randomBytes(32)]]);

export async function createHarness(): Promise<Harness> {
  const database = await createTestDatabase({
    template: 'migrated',
    prepare: async (url) => void (await migrate(url)),
  });
  const open = async (
    role: 'operator' | 'partner_api' | 'lender_api',
  ): Promise<WebhookActionContext & { close(): Promise<void> }> => {
    const databaseUrl = await database.urlFor(role);
    const store = createStore({ databaseUrl, applicationName: `test-${role}` });
    const notifier = createNotifier({ databaseUrl, applicationName: `test-${role}`, onError: () => {} });
    const sender = createWebhookSender({ policy: 'development', userAgent: 'Deedwire-Webhooks/test' });
    return {
      store,
      gidNamespace: 'service',
      sender,
      callbackPolicy: 'development',
      secretKeys: createSecretKeyRing(keys),
      notify: () => notifier.notify(),
      async close() {
        await notifier.close();
        await sender.close();
        await store.close();
      },
    };
  };
  const operator = await open('operator');
  const api = await open('partner_api');
  const { id: organizationId } = await createOrganization(operator, { name: 'Test' });
  const partnerRecord = await createPartner(operator, { organizationId, name: 'Partner' });
  const lenderRecord = await createLender(operator, { organizationId, name: 'Lender' });
  const partner = {
    interfaceName: 'partner',
    accountId: partnerRecord.id.split('/').at(-1) ?? '',
    gid: partnerRecord.id,
  } as const;
  const lender = {
    interfaceName: 'lender',
    accountId: lenderRecord.id.split('/').at(-1) ?? '',
    gid: lenderRecord.id,
  } as const;
  const workers = new Set<Worker>();
  const registry = new Registry();
  const superuser = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  let statements = 0;

  const stopWorker = async (worker: Worker): Promise<void> => {
    workers.delete(worker);
    worker.stopTakingWork();
    await worker.drain();
    await worker.close();
  };

  return {
    database,
    api,
    operator,
    partner,
    lender,
    stopWorker,
    metrics: () => registry.metrics(),
    sql: (text, values = []) => superuser.query({ name: `test-${(statements += 1)}`, text }, values),
    async addPartner() {
      const { id } = await createPartner(operator, { organizationId, name: 'Another' });
      return { interfaceName: 'partner', accountId: id.split('/').at(-1) ?? '', gid: id };
    },
    async startWorker(config = {}) {
      const worker = createWorker(
        {
          PORT: 0,
          LOG_LEVEL: 'silent',
          NODE_ENV: 'test',
          DATABASE_URL: await database.urlFor('webhook_worker'),
          GID_NAMESPACE: 'service',
          WEBHOOK_SECRET_KEYS: keys,
          WEBHOOK_CALLBACK_POLICY: 'development',
          POLL_INTERVAL_MS: 500,
          WORKER_CONCURRENCY: 64,
          ...config,
        },
        createLogger({ name: 'test', level: 'silent' }),
        workers.size === 0 ? registry : new Registry(),
        'test',
      );
      workers.add(worker);
      const problems = await worker.readiness();
      if (problems.length > 0) throw new Error(problems.join(' '));
      return worker;
    },
    async subscribe(url, eventTypes, caller = partner) {
      const result = await createWebhookSubscription(api, caller, {
        callbackUrl: url,
        eventTypes: eventTypes.map((eventType) => (typeof eventType === 'string' ? { type: eventType } : eventType)),
      });
      if (result.webhookSubscription === null || result.webhookSecret === null) {
        throw new Error(JSON.stringify(result.userErrors));
      }
      return { id: result.webhookSubscription.id, secret: result.webhookSecret };
    },
    async refer(count, caller = partner) {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { referral } = await createReferral(api, caller, { clientName: `Client ${index}` });
        ids.push(referral?.id ?? '');
      }
      return ids;
    },
    async convert(referralId) {
      await convertReferral(operator, { referralId });
    },
    async deliveries() {
      const page = await listWebhookDeliveries(api, partner, { first: 100 });
      const nodes = page.edges.map(({ node }) => node);
      const attempts = await listWebhookAttempts(api, nodes);
      return nodes.map((node, index) => ({ ...node, attempts: attempts[index] ?? [] }));
    },
    async close() {
      await Promise.all([...workers].map(stopWorker));
      await Promise.all([operator.close(), api.close(), superuser.close()]);
      await database.drop();
    },
  };
}
