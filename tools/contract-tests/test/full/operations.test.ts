import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appOf, deployedInterfaces } from '@deedwire/domain';
import { createTestDatabase, findFreePort, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import { groupRoles } from '@deedwire/store';
import { commandsOf, compileCache, findProgram, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workspaceRoot } from '../support/workspace-copy.ts';

// The commands of docs/operations.md on one machine, in one shell. Only paths, ports, URLs, names of roles and what stands in angle
// brackets are replaced by those of this test, and `node` runs the sources of the app that a command names.

const page = await readFile(join(workspaceRoot, 'docs/operations.md'), 'utf8');
const [createFiles = '', start = '', check = '', useIt = '', stop = ''] = commandsOf(page, 'First start', 5);
const [upgrade = ''] = commandsOf(page, 'Upgrades', 1);
const [protectDatabase = ''] = commandsOf(page, 'Database', 1);
const [takeLoginAway = ''] = commandsOf(page, 'A stolen login', 1);
const [setLimit = ''] = commandsOf(page, 'Rate limits', 1);
const [listeners = ''] = commandsOf(page, 'Listeners', 1);
const [claim = ''] = commandsOf(page, 'Audit log', 1);
const [exportAudit = ''] = commandsOf(page, 'Exports of the audit log', 1);
const [startPrometheus = '', seeAlert = ''] = commandsOf(page, 'Alerts', 2);

const programs = ['psql', 'curl', 'openssl', 'prometheus', 'promtool'];
const missing = programs.filter((name) => findProgram(name) === undefined);
const isSkipped = missing.length > 0 && process.env['CI'] !== 'true';

let folder: string;
let database: TestDatabase;
let receiver: Receiver;
let replaced: [string | RegExp, string][];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deedwire-first-start-'));
  database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  receiver = await startReceiver();
  const ports = { lender: await findFreePort(), partner: await findFreePort() };
  const adminPorts = { lender: await findFreePort(), partner: await findFreePort(), worker: await findFreePort() };
  await mkdir(join(folder, 'bin'));
  await writeFile(
    join(folder, 'bin/node'),
    `#!/bin/sh
app=$(basename "$(dirname "$(dirname "$1")")")
shift
export NODE_ENV=development WEBHOOK_CALLBACK_POLICY=development DATABASE_TIMEOUT_MS=20000 WORKER_UNREADY_AFTER_MS=1000
case $app in
  lender-api) export PORT=${ports.lender} ADMIN_PORT=${adminPorts.lender} ;;
  partner-api) export PORT=${ports.partner} ADMIN_PORT=${adminPorts.partner} ;;
  webhook-worker) export ADMIN_PORT=${adminPorts.worker} ;;
esac
exec ${process.execPath} --conditions=deedwire-source ${workspaceRoot}/apps/$app/src/main.ts "$@"
`,
  );
  await chmod(join(folder, 'bin/node'), 0o755);
  // The alerts wait for minutes.
  const rules = await readFile(join(workspaceRoot, 'deploy/prometheus/rules.yml'), 'utf8');
  await writeFile(join(folder, 'rules.yml'), rules.replaceAll(/for: \d+m/g, 'for: 1s'));
  const name = new URL(database.databaseUrl).pathname.slice(1);
  replaced = [
    ['postgres://postgres@127.0.0.1/deedwire', database.databaseUrl],
    ['https://receiver.example.com/hooks', receiver.url],
    ['/usr/local/bin/', `${folder}/bin/`],
    ['/opt/deedwire/current/bin/', `${folder}/bin/`],
    ['/etc/deedwire', `${folder}/etc`],
    ['/var/log/', `${folder}/`],
    ['/var/lib/', `${folder}/`],
    ['/run/', `${folder}/`],
    ['deploy/prometheus/rules.yml', `${folder}/rules.yml`],
    ['interval: 15s', 'interval: 1s'],
    ['127.0.0.1:9090', `127.0.0.1:${await findFreePort()}`],
    [/\b4101\b/g, String(adminPorts.lender)],
    [/\b4102\b/g, String(adminPorts.partner)],
    [/\b4003\b/g, String(adminPorts.worker)],
    ['127.0.0.1:4002', `127.0.0.1:${ports.partner}`],
    ['on database deedwire', `on database ${name}`],
    [/\bdeedwire_(?=lender_api|partner_api|webhook_worker|operator\b)/g, `${name}_`],
    ['<clientId>', '"$client"'],
    ['<gid of the listener>', '"$listener"'],
    [/<gid(?: of the account)?>/g, '"$partner"'],
  ];
});

afterAll(async () => {
  const name = new URL(database.databaseUrl).pathname.slice(1);
  await database.drop();
  const serverUrl = new URL(database.databaseUrl);
  serverUrl.pathname = '/postgres';
  const roles = groupRoles.map((role) => `"${name}_${role}"`);
  await withClient(serverUrl.href, (client) => client.query(`drop role if exists ${roles.join(', ')}`));
  await receiver.close();
  await rm(folder, { recursive: true });
});

/** As psql runs it with the login of the owner. */
const sql = (statements: string): string =>
  `psql postgres://postgres@127.0.0.1/deedwire --no-psqlrc --quiet --set=ON_ERROR_STOP=1 <<'SQL'\n${statements}\nSQL\n`;

const untilDelivered = `
for _ in $(seq 60); do deedwire-operator delivery list --account "$partner" | grep DELIVERED && break; sleep 0.2; done
`;

const createListener = `
client=$(sed -n 's/^X-Service-Client-Id: //p' partner.headers)
listener=$(curl --silent --fail --header @partner.headers --header 'Content-Type: application/json' --data '{"query":
  "mutation { createWebhookListener(input: { eventTypes: [{ type: \\"referral.created\\" }] }) { listener: webhookListener { id } } }"}' \
  http://127.0.0.1:4002/partners/graphql | grep --only-matching 'gid://[^"]*')
`;

test.skipIf(isSkipped)('the commands of the page run as they stand, from an empty database to an alert', async () => {
  const steps = [
    createFiles,
    start,
    check,
    useIt,
    untilDelivered,
    sql(protectDatabase),
    createListener,
    setLimit,
    listeners,
    sql(`${claim}select 1;`),
    exportAudit,
    startPrometheus,
    seeAlert,
    upgrade,
    sql(takeLoginAway),
    stop,
  ];
  let script = steps.join('');
  for (const [from, to] of replaced) {
    const changed = script.replaceAll(from, to);
    if (changed === script) throw new Error(`The page does not contain ${String(from)}.`);
    script = changed;
  }
  await writeFile(join(folder, 'steps.sh'), `set -e\n${script}kill "$(cat ${folder}/deedwire-prometheus.pid)"\nwait\n`);
  const child = execFile('bash', [join(folder, 'steps.sh')], {
    env: { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder, ...compileCache },
    timeout: 300_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: string) => (output += text));
  const [exitCode] = await once(child, 'close');
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });

  expect(output).toContain('Applied 0002-webhooks\n');
  expect(output).toMatch(/"webhookSecret":"whsec_[^"]+","userErrors":\[\]/);
  expect(output).toContain('DELIVERED');
  expect(output).toContain('ALERTS{alertname="DeedwireNotReady", alertstate="firing"');
  expect(output).toContain('Nothing to apply\n');
  expect(output).toContain('to 5000 points, restored at 500 per second');
  expect(output).toMatch(/^\d+ entries, lines 1 to \d+, /m);
  expect(receiver.handshakes).toHaveLength(1);
  expect(receiver.deliveries.map(({ headers }) => headers['x-service-webhook-event'])).toEqual(['referral.created']);
  for (const app of [...deployedInterfaces.map(appOf), 'webhook-worker']) {
    expect(await readFile(join(folder, `deedwire-${app}.log`), 'utf8')).toContain('"msg":"listening"');
  }
});
