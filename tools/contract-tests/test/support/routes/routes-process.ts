// Started by run-without-routes.ts in its own namespaces: public addresses are those of this machine, or lead nowhere.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { startPostgres } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { createInterfaceClient } from '../interface-client.ts';
import { startNameServer } from './name-server.ts';

/** What the process has found, for the tests. */
export interface FoundWithoutRoutes {
  /** By the host of the callback URL: `<code> <field>: <message>` for each user error of the mutations. */
  readonly handshakes: Readonly<Record<string, readonly string[]>>;
  /** The state of each app at the end: `serves`, or how it ended. */
  readonly apps: Readonly<Record<string, string>>;
  /** By the host of the callback URL: `<error> <detail>` for each attempt without a response. */
  readonly failedAttempts: Readonly<Record<string, readonly string[]>>;
  /** By the host: how many events were received while there was no route to `leaving.example`, and in the end. */
  readonly received: Readonly<Record<string, readonly [withoutRoute: number, inTheEnd: number]>>;
}

const healthy = '8.8.8.8';
const leaving = '9.9.9.9';
const noRoute = {
  'v6only.example': '2606:4700:4700::1111',
  'lost.example': '1.1.1.1',
  'prohibited.example': '149.112.112.112',
  'blackhole.example': '208.67.222.222',
};
const ip = (...args: readonly string[]): void => void execFileSync('ip', args);

const folder = await mkdtemp(join(tmpdir(), 'deedwire-routes-'));
const fileOf = (name: string): string => join(folder, name);
process.once('exit', () => rmSync(folder, { recursive: true }));
ip('link', 'set', 'lo', 'up');
for (const address of [healthy, leaving]) ip('addr', 'add', `${address}/32`, 'dev', 'lo');
ip('route', 'add', 'prohibit', `${noRoute['prohibited.example']}/32`);
ip('route', 'add', 'blackhole', `${noRoute['blackhole.example']}/32`);
await writeFile(fileOf('resolv.conf'), 'nameserver 127.0.0.1\n');
execFileSync('mount', ['--bind', fileOf('resolv.conf'), '/etc/resolv.conf']);
const names = new Map([...Object.entries(noRoute), ['healthy.example', healthy], ['leaving.example', leaving]]);
const nameServer = await startNameServer(names);
execFileSync(
  'openssl',
  [
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=receiver'],
    ['-addext', 'subjectAltName=DNS:healthy.example,DNS:leaving.example'],
    ['-keyout', fileOf('key.pem'), '-out', fileOf('cert.pem')],
  ].flat(),
  { stdio: 'ignore' },
);

const received = new Map<string, number>();
const receivedBy = (host: string): number => received.get(host) ?? 0;
const receiver = createServer({ key: await readFile(fileOf('key.pem')), cert: await readFile(fileOf('cert.pem')) });
receiver.on('request', (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const host = String(request.headers.host);
    if (!body.includes('"verification_token"')) received.set(host, receivedBy(host) + 1);
    // A new connection for each request, which needs the route again.
    response.writeHead(200, { connection: 'close' }).end(body);
  });
});
receiver.listen(443);

const t = await startTestSystem({
  server: await startPostgres(),
  env: { WEBHOOK_CALLBACK_POLICY: 'public', NODE_EXTRA_CA_CERTS: fileOf('cert.pem') },
});
const ends: Record<string, string> = {};
for (const { name, ended } of Object.values(t.system.apps))
  void ended.then(({ exitCode, signal }) => (ends[name] = `ended with ${exitCode ?? signal}`));

const customer = createInterfaceClient(t, 'customer', '2026-11-01');
const supplier = createInterfaceClient(t, 'supplier', '2026-11-01');
type Client = typeof customer;

const changeTo = async ({ mutate }: Client, name: string, input: object) => {
  const changed = await mutate<{ webhookSubscription: { id: string } | null }>(
    name,
    'webhookSubscription { id }',
    input,
  );
  const errors = changed.userErrors.map(({ code, field, message }) => `${code} ${field?.join('.')}: ${message}`);
  return { id: changed.webhookSubscription?.id ?? '', errors };
};
const subscribe = (client: Client, host: string, type: string) =>
  changeTo(client, 'createWebhookSubscription', { callbackUrl: `https://${host}/`, eventTypes: [{ type }] });

const subscriptions: Record<string, string> = {};
for (const host of ['healthy.example', 'leaving.example'])
  subscriptions[host] = (await subscribe(customer, host, 'order.placed')).id;

const handshakes: Record<string, string[]> = {};
for (const host of Object.keys(noRoute)) {
  const created = await subscribe(customer, host, 'order.placed');
  const ofSupplier = await subscribe(supplier, host, 'api_key.created');
  const input = { id: subscriptions['healthy.example'], callbackUrl: `https://${host}/` };
  const updated = await changeTo(customer, 'updateWebhookSubscription', input);
  handshakes[host] = [created, ofSupplier, updated].flatMap(({ errors }) => errors);
}

const failedAttempts = (host: string): Promise<string[]> =>
  t
    .sql(
      `select distinct concat_ws(' ', error, detail) as found from webhook_attempt
        join webhook_subscription on webhook_subscription.id = webhook_attempt.subscription_id
        where response_status is null and callback_url = $1 order by found`,
      [`https://${host}/`],
    )
    .then((rows) => rows.map(({ found: text }) => String(text)));
const sendTest = (host: string) =>
  customer.mutate('sendTestWebhookEvent', 'webhookEventId', {
    subscriptionId: subscriptions[host],
    eventType: 'order.placed',
  });
const isReceived = (host: string, count: number): Promise<void> =>
  eventually(() => {
    if (receivedBy(host) < count) throw new Error(`${host} has received ${receivedBy(host)} of ${count} events.`);
  });

ip('addr', 'del', `${leaving}/32`, 'dev', 'lo');
let sent = 0;
for (const route of [null, 'prohibit', 'blackhole']) {
  if (route !== null) ip('route', 'replace', route, `${leaving}/32`);
  sent += 1;
  await sendTest('leaving.example');
  await sendTest('healthy.example');
  await isReceived('healthy.example', sent);
  await eventually(async () => {
    const [row] = await t.sql(
      'select count(distinct delivery_id)::int as failed from webhook_attempt where response_status is null',
    );
    if (row?.['failed'] !== sent) throw new Error(`${String(row?.['failed'])} of ${sent} deliveries have failed.`);
  });
}
const withoutRoute = { healthy: receivedBy('healthy.example'), leaving: receivedBy('leaving.example') };
ip('route', 'del', 'blackhole', `${leaving}/32`);
ip('addr', 'add', `${leaving}/32`, 'dev', 'lo');
await isReceived('leaving.example', sent);

const apps: Record<string, string> = {};
for (const [name, { adminUrl }] of Object.entries(t.system.apps))
  apps[name] = ends[name] ?? ((await fetch(`${adminUrl}/ready`)).ok ? 'serves' : 'is not ready');
const found: FoundWithoutRoutes = {
  handshakes,
  apps,
  failedAttempts: {
    'healthy.example': await failedAttempts('healthy.example'),
    'leaving.example': await failedAttempts('leaving.example'),
  },
  received: {
    'healthy.example': [withoutRoute.healthy, receivedBy('healthy.example')],
    'leaving.example': [withoutRoute.leaving, receivedBy('leaving.example')],
  },
};
process.stdout.write(`${JSON.stringify(found)}\n`);
await t.close();
receiver.closeAllConnections();
receiver.close();
nameServer.close();
