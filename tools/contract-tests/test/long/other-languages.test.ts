import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { createTestDatabase, findFreePort } from '@deedwire/embedded-postgres';
import { connect, eventually, missing } from '@deedwire/testing';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { succeed } from '../support/command.ts';
import { createPartnerAccounts } from '../support/partner-accounts.ts';
import { expectedVerdicts, go, java, lacks, python, rust, verdictsOf } from '../support/standard-webhooks.ts';
import { subscribe } from '../support/subscribe.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// Only the real sender and the tools of the languages show that a partner without the kit can receive.
let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

for (const program of [python, go, rust, java])
  test.skipIf(lacks(program.tools))(
    `the library of Standard Webhooks for ${program.name} accepts a delivery and rejects altered ones`,
    async () => expect(await verdictsOf(program, t)).toEqual(expectedVerdicts),
  );

// `tools/dev-environment/test/quickstart.test.ts` runs the receiver in Python.
test.skipIf(lacks(['go']))(
  'the receiver in Go answers the handshake, processes each delivery once, and rejects what Deedwire did not sign',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'receiver-go-'));
    await cp(join(workspaceRoot, 'examples/receiver-go'), folder, { recursive: true });
    await succeed('go', ['build', '-o', 'receiver', '.'], { cwd: folder });
    const database = await createTestDatabase({ template: 'receiver_go', prepare: async () => {} });
    const connection = await connect(database.databaseUrl);
    // The server of the tests hashes passwords with one iteration, which the driver for Go refuses.
    await connection.run('set scram_iterations = 4096');
    await connection.run(`create role receiver_go login password 'receiver_go'`);
    await connection.run('grant create on schema public to receiver_go');
    const databaseUrl = new URL(database.databaseUrl);
    databaseUrl.username = 'receiver_go';
    databaseUrl.password = 'receiver_go';
    // The server has no TLS, which the driver requires by default.
    databaseUrl.searchParams.set('sslmode', 'disable');
    const secret = generateWebhookSecret();
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/`;
    const child = spawn('./receiver', {
      cwd: folder,
      env: { WEBHOOK_SECRET: secret, DATABASE_URL: databaseUrl.href, PORT: String(port) },
    });
    const closed = once(child, 'close');
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    onTestFinished(async () => {
      child.kill();
      await closed;
      await connection.run('drop owned by receiver_go');
      await connection.run('drop role receiver_go');
      await connection.close();
      await database.drop();
      await rm(folder, { recursive: true });
    });
    await eventually(() => expect(output).toContain('Listening'), 20_000);

    const [{ client } = missing()] = await createPartnerAccounts(t, 1);
    await subscribe(client, { callbackUrl: url, eventTypes: [{ type: 'referral.created' }], webhookSecret: secret });
    const { createReferral } = await client.request(operations.ReferDocument, { input: { clientName: 'Ada' } });
    const referralId = createReferral.referral?.id ?? missing();
    await eventually(() => expect(output).toContain(`Processed referral.created: {"referralId":"${referralId}"`));

    const body = JSON.stringify({ type: 'referral.created', data: { referralId: 'repeated' } });
    const signed = signWebhook({ id: 'repeated', timestamp: Math.floor(Date.now() / 1000), body, secret });
    const send = async (sent: string) => (await fetch(url, { method: 'POST', headers: signed, body: sent })).status;
    const statuses = await Promise.all(Array.from({ length: 64 }, () => send(body)));
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(63);
    expect(output.match(/Processed .*repeated/g)).toHaveLength(1);
    expect(await send(`${body} `)).toBe(401);
    expect(await send('x'.repeat(300_001))).toBe(413);
  },
);
