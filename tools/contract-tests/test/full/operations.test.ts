import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, findFreePort, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import { findProgram, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workspaceRoot } from '../support/workspace-copy.ts';

// The commands of "First start" in docs/operations.md, in their order and in one shell. Only paths, ports and URLs are replaced by those
// of this test, and `node` runs the sources of the app that a command names.

const page = await readFile(join(workspaceRoot, 'docs/operations.md'), 'utf8');
const [, chapter = ''] = /^## First start\n([^]*?)^## /m.exec(page) ?? [];
const blocks = [...chapter.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);

const programs = ['psql', 'curl', 'openssl'];
const missing = programs.filter((name) => findProgram(name) === undefined);
const isSkipped = missing.length > 0 && process.env['CI'] !== 'true';

let folder: string;
let database: TestDatabase;
let receiver: Receiver;
let replaced: [string, string][];

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
export NODE_ENV=development WEBHOOK_CALLBACK_POLICY=development DATABASE_TIMEOUT_MS=20000
case $app in
  lender-api) export PORT=${ports.lender} ADMIN_PORT=${adminPorts.lender} ;;
  partner-api) export PORT=${ports.partner} ADMIN_PORT=${adminPorts.partner} ;;
  webhook-worker) export ADMIN_PORT=${adminPorts.worker} ;;
esac
exec ${process.execPath} --conditions=deedwire-source ${workspaceRoot}/apps/$app/src/main.ts "$@"
`,
  );
  await chmod(join(folder, 'bin/node'), 0o755);
  replaced = [
    ['postgres://postgres@127.0.0.1/deedwire', database.databaseUrl],
    ['https://receiver.example.com/hooks', receiver.url],
    ['/usr/local/bin/', `${folder}/bin/`],
    ['/etc/deedwire', `${folder}/etc`],
    ['/var/log/', `${folder}/`],
    ['/run/', `${folder}/`],
    ['4101 4102 4003', Object.values(adminPorts).join(' ')],
    ['127.0.0.1:4002', `127.0.0.1:${ports.partner}`],
  ];
});

afterAll(async () => {
  const name = new URL(database.databaseUrl).pathname.slice(1);
  await database.drop();
  const serverUrl = new URL(database.databaseUrl);
  serverUrl.pathname = '/postgres';
  const roles = ['lender_api', 'partner_api', 'webhook_worker', 'operator'].map((role) => `"${name}_${role}"`);
  await withClient(serverUrl.href, (client) => client.query(`drop role if exists ${roles.join(', ')}`));
  await receiver.close();
  await rm(folder, { recursive: true });
});

test.skipIf(isSkipped)('the commands take an empty database to a delivered webhook', async () => {
  expect(blocks).toHaveLength(5);
  let script = blocks.join('');
  for (const [from, to] of replaced) {
    expect(script).toContain(from);
    script = script.replaceAll(from, to);
  }
  // Between the event and the stop, so that the delivery is not interrupted.
  const [before = '', stop = ''] = script.split(/^(?=for app in .*\n  kill )/m);
  const wait =
    'for _ in $(seq 60); do deedwire-operator delivery list --account "$partner" | grep DELIVERED && break; sleep 0.2; done\n';
  await writeFile(join(folder, 'steps.sh'), `set -e\n${before}${wait}${stop}wait\n`);
  const child = execFile('bash', [join(folder, 'steps.sh')], {
    env: { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder },
    timeout: 300_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: string) => (output += text));
  const [exitCode] = await once(child, 'close');
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });

  expect(output).toContain('Applied 0002-webhooks\n');
  expect(output).toMatch(/"webhookSecret":"whsec_[^"]+","userErrors":\[\]/);
  expect(output).toContain('DELIVERED');
  expect(receiver.handshakes).toHaveLength(1);
  expect(receiver.deliveries.map(({ headers }) => headers['x-service-webhook-event'])).toEqual(['referral.created']);
  for (const app of ['lender-api', 'partner-api', 'webhook-worker']) {
    expect(await readFile(join(folder, `deedwire-${app}.log`), 'utf8')).toContain('"msg":"listening"');
  }
});
