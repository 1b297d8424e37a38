import { join } from 'node:path';
import { succeed } from '../../support/command.ts';
import { installPackages, readJson, type InstalledPackages } from '../../support/installed-packages.ts';
import { publishedPackages } from '../../support/packed-packages.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

/** Fails to compile if a type is missing, wrong or `any`. */
const consumer = `
import { compareApiReports } from '@deedwire/contract-check';
import { sdl, UnknownVersionError, versions, type Manifest, type SchemaVersion } from '@deedwire/lender-schema';
import type { ErrorCode, Lender } from '@deedwire/lender-schema/2026-11-01';
import lenderVersions from '@deedwire/lender-schema/versions.json' with { type: 'json' };
import type { Partner } from '@deedwire/partner-schema/2026-11-01';
import { findEventVersion, parseWebhookBody, type WebhookBody } from '@deedwire/webhook-events';
import packageManifest from '@deedwire/webhook-events/package.json' with { type: 'json' };
import { webhookEventTypes } from '@deedwire/webhook-events/registry';
import type { ReferralConverted } from '@deedwire/webhook-events/referral.converted/2026-11-01';
import * as events from '@deedwire/webhook-events';
import { createInboxReceiver, createWebhookReceiver } from '@deedwire/webhook-receiver';
import { graphileWorkerInbox } from '@deedwire/webhook-receiver/graphile-worker';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { pgBossInbox } from '@deedwire/webhook-receiver/pg-boss';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { graphqlPull, PullError } from '@deedwire/webhook-receiver/pull';
import { signedRequest } from '@deedwire/webhook-receiver/testing';
import { workersHandler } from '@deedwire/webhook-receiver/workers';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { verifyWebhook as verifyOnWebCrypto } from '@deedwire/webhook-signing/web';
import type { Pool, PoolClient } from 'pg';

export const list: readonly SchemaVersion[] = versions;
export const names = (lender: Lender, partner: Partner): string[] => [lender.name, partner.name];
export const status: string = lenderVersions['2026-11-01'].status + packageManifest.version;
export const code: 'UNKNOWN_VERSION' = new UnknownVersionError('', []).code;
export const isLimit = (error: ErrorCode): boolean => error === 'RATE_LIMITED';

const body: WebhookBody = parseWebhookBody(new Uint8Array());
if (body.kind === 'event' && body.event.type === 'referral.converted' && body.event.version === '2026-11-01') {
  const event: ReferralConverted = body.event;
  event.data.matterId.toUpperCase();
}

export const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: [],
  store: memoryStore(),
  on: { 'referral.converted': { '2027-02-01': ({ data }) => data.matter.id.toUpperCase() } },
});
nodeHandler(receiver);
signedRequest(events, 'webhook.test', '2026-11-01', { message: '' });

export const processed = async (): Promise<number> => {
  const pull = graphqlPull({ prefix: 'X-Service', url: '', credentials: { clientId: '', apiKey: '', organizationId: '' }, subscriptionId: '' });
  try {
    const report = await receiver.reconcile(pull, { from: { since: new Date() } });
    return report.processed + (await receiver.reprocess(pull, { since: new Date() })).failed.length;
  } catch (error) {
    return PullError.isInstance(error) && error.code === 'CURSOR_EXPIRED' ? (error.gap?.from ?? 0) : 0;
  }
};

export const insertInto = (pool: Pool) =>
  createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [],
    store: postgresStore(pool),
    on: {
      'lender.updated': {
        async '2026-11-01'({ data }, { transaction }) {
          if (data.changed?.includes('name') === false) return;
          const client: PoolClient = transaction;
          const { rows } = await client.query<{ id: string }>('select id from lender where name = $1', [data.name]);
          await transaction.query('select 1' + rows[0]?.id.toUpperCase());
          // @ts-expect-error -- not declared
          transaction.unknown;
        },
      },
    },
  });

// @ts-expect-error -- not declared
body.unknown;
// @ts-expect-error -- no type
createWebhookReceiver({ events, prefix: 'X-Service', secrets: [], store: memoryStore(), on: { 'lender.renamed': {} } });
// @ts-expect-error -- no version of this type
signedRequest(events, 'lender.updated', '2027-02-01', {});
// @ts-expect-error -- no credentials
graphqlPull({ prefix: 'X-Service', url: '', subscriptionId: '' });
// @ts-expect-error -- no database
postgresStore(1);
// @ts-expect-error -- no database
graphileWorkerInbox(1, { events, on: {} });
// @ts-expect-error -- no queues
pgBossInbox(1, { events, on: {}, boss: {} });
// @ts-expect-error -- no inbox
createInboxReceiver({ events, prefix: 'X-Service', secrets: [], inbox: {} });
// @ts-expect-error -- no receiver
workersHandler({});
// @ts-expect-error -- a misspelled value
export const misspelled: ErrorCode = 'RATE_LIMITTED';
// @ts-expect-error -- not a version
sdl(1);
// @ts-expect-error -- not an event type
findEventVersion(1, '');
// @ts-expect-error -- without schemas
webhookEventTypes[0]?.versions[0]?.body;
// @ts-expect-error -- not declared
verifyWebhook({ prefix: 'X-Service', headers: {}, body: '', secret: '' }).unknown;
// @ts-expect-error -- a promise
verifyOnWebCrypto({ headers: {}, body: '', secret: '' }).id;
// @ts-expect-error -- not declared
compareApiReports.unknown;
// @ts-expect-error -- not a manifest
export const manifest: Manifest = 1;
`;

/** An application with a service. Fails to compile likewise. */
const application = `
import { append, createAccount, defineEvent, defineService, fromPg, startInterface, startWorker, z, type PgClient } from '@deedwire/service';
import { findUnprotectedTables, startService } from '@deedwire/service/testing';

const orderPaid = defineEvent('order.paid', {
  description: 'An order was paid.',
  interfaces: ['customer'],
  record: { type: 'Order', id: ({ order }) => order.id },
  snapshot: z.object({ order: z.object({ id: z.uuid(), total: z.int() }) }),
  sample: () => ({ order: { id: '7d444840-9dc0-41d1-b245-5ffdce74fad2', total: 1250 } }),
  versions: {
    '2026-11-01': {
      status: 'current',
      data: z.object({ orderId: z.uuid(), total: z.int() }),
      render: ({ order }) => ({ orderId: order.id, total: order.total }),
    },
  },
});
const service = defineService({
  names: { service: 'shop', gidNamespace: 'shop', apiKeyPrefix: 'shop', headerPrefix: 'X-Shop', userAgent: 'Shop-Webhooks' },
  interfaces: { customer: { title: 'Customer', account: 'Customer', versions: { '2026-11-01': {} } } },
  events: [orderPaid],
});

export async function pay(client: PgClient, id: string): Promise<string> {
  await createAccount(fromPg(client), { interface: 'customer', externalId: 'c-1', name: 'Ada' });
  // @ts-expect-error -- a wrong type of a member
  await append(fromPg(client), orderPaid, 'c-1', { order: { id, total: '1250' } });
  // @ts-expect-error -- not declared
  await append(fromPg(client), orderPaid, 'c-1', { order: { id, total: 1250, note: '' } });
  return append(fromPg(client), orderPaid, 'c-1', { order: { id, total: 1250 } });
}

export async function start(app: string): Promise<() => Promise<void>> {
  // @ts-expect-error -- no interface of the service
  void startInterface(service, 'vendor', { app });
  const api = await startInterface(service, 'customer', { app });
  const worker = await startWorker(service, { app });
  await Promise.all([api.ready, worker.ready]);
  const port: number = api.port;
  // @ts-expect-error -- a number
  api.port.toUpperCase();
  return port === 0 ? api.stop : worker.stop;
}

export async function run(app: string): Promise<string[]> {
  const { accounts, databaseUrl, receiver } = await startService(service, { app });
  const [event] = await receiver.waitFor(1);
  // @ts-expect-error -- no interface of the service
  accounts.vendor;
  return [accounts.customer.url, String(event), ...(await findUnprotectedTables(databaseUrl, service))];
}
`;

const node10 = ['--module', 'commonjs', '--moduleResolution', 'node10'];

/** The modules that import every entry point. */
export const consumers = {
  'an ES module': { files: ['consumer.mts', 'application.mts'], options: ['--module', 'nodenext'] },
  'a CommonJS module': { files: ['consumer.cts', 'application.cts'], options: ['--module', 'nodenext'] },
  'a CommonJS module of node20': { files: ['consumer.cts', 'application.cts'], options: ['--module', 'node20'] },
  'a CommonJS module of node16': { files: ['consumer.cts', 'application.cts'], options: ['--module', 'node16'] },
  'a module of node10': { files: ['consumer.ts'], options: node10 },
  'an application of node10': { files: ['application.ts'], options: node10 },
  'an application of node10 with the option of TypeScript 6': {
    files: ['application.ts'],
    options: [...node10, '--ignoreDeprecations', '6.0'],
  },
  'a bundled module': {
    files: ['consumer.ts', 'application.ts'],
    options: ['--module', 'esnext', '--moduleResolution', 'bundler'],
  },
};

/** A release of TypeScript, or the one that this workspace compiles with. */
export type Compiler = `${number}.${number}.${number}` | 'of this workspace';

/** Installs the published packages beside the compilers and other packages, and writes the consumers. */
export async function installWithCompilers(
  compilers: readonly Compiler[],
  others: readonly string[] = [],
): Promise<InstalledPackages> {
  const types = [
    ['@types/node', 'node_modules'],
    ['@types/pg', 'tools/contract-tests/node_modules'],
  ].map(([name = '', folder = '']) => `${name}@${readJson(join(workspaceRoot, folder, name, 'package.json')).version}`);
  const aliases = compilers.map((release) => `typescript-${release}@npm:typescript@${release}`);
  const project = await installPackages(publishedPackages, [...aliases, ...types, ...others]);
  await project.write('consumer.mts', consumer);
  await project.write('consumer.ts', consumer);
  for (const extension of ['cts', 'mts', 'ts']) await project.write(`application.${extension}`, application);
  // `import` of a CommonJS module compiles to `require`, which has no attributes.
  await project.write('consumer.cts', consumer.replaceAll(" with { type: 'json' }", ''));
  return project;
}

/** Compiles a consumer, and other files with it. Resolves with the output, which is empty. Rejects with the errors. */
export function compile(
  { folder }: InstalledPackages,
  compiler: Compiler,
  kind: keyof typeof consumers,
  others: readonly string[] = [],
): Promise<string> {
  const { files, options } = consumers[kind];
  const [modules, name] =
    compiler === 'of this workspace' ? [workspaceRoot, 'typescript'] : [folder, `typescript-${compiler}`];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--resolveJsonModule', '--esModuleInterop'];
  const target = ['--target', 'es2022', '--lib', 'es2022', '--types', 'node', '--outDir', 'compiled'];
  const script = join(modules, 'node_modules', name, 'bin/tsc');
  return succeed(process.execPath, [script, ...strict, ...target, ...options, ...files, ...others], { cwd: folder });
}
