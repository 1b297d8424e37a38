import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signWebhook } from '@deedwire/webhook-signing';
import { expect, it } from 'vitest';
import { hmac, linesOf, receivers, secret, startReceiver } from './support/receivers.ts';
import { root } from './support/run-bench.ts';

// `test/long/checks.test.ts` runs this file after it has installed the kits.

it.each(receivers)('a receiver with $name processes each message once in PostgreSQL', async (receiver) => {
  const { table, message, handshake, unhandledStatus } = receiver;
  const { send, run, child } = await startReceiver(receiver);
  const effects = async (): Promise<number> => (await run(`select from ${table}`)).length;
  const repeated = await Promise.all(Array.from({ length: 8 }, () => send(message(1))));
  expect(repeated.map(({ status }) => status)).toContain(200);
  expect(await send(message(1))).toMatchObject({ status: 200 });
  expect(await effects()).toBe(1);
  const altered = await send({ ...message(2), body: message(3).body });
  expect([400, 401]).toContain(altered.status);
  expect(await send(message(4, true))).toMatchObject({ status: unhandledStatus });
  expect(await effects()).toBe(1);
  await run(`alter table ${table} rename to missing`);
  expect(await send(message(5))).toMatchObject({ status: 500 });
  await run(`alter table missing rename to ${table}`);
  expect(await send(message(5))).toMatchObject({ status: 200 });
  expect(await effects()).toBe(2);
  for (const sent of handshake === undefined ? [] : [handshake()])
    expect(await send(sent)).toEqual({ status: 200, text: sent.body });
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

// The README of the receiver kit says so.
it('the other kits accept lax timestamps, altered bytes and repeats', async () => {
  const [svix, standardWebhooks, { Stripe }, { Webhooks }] = await Promise.all([
    import('svix'),
    import('standardwebhooks'),
    import('stripe'),
    import('@octokit/webhooks'),
  ]);
  const seconds = Math.floor(Date.now() / 1000);
  // Each byte that is no UTF-8 is decoded to U+FFFD.
  const signedBody = '{"object":"event","name":"\uFFFD"}';
  const otherBytes = Buffer.from(signedBody.replace('\uFFFD', '\u00FF'), 'latin1');
  for (const { Webhook } of [svix, standardWebhooks]) {
    const webhook = new Webhook(secret);
    const headers = { ...signWebhook({ prefix: 'X-Service', id: 'a', timestamp: seconds, body: signedBody, secret }) };
    expect(() => webhook.verify(otherBytes, headers)).not.toThrow();
    const lax = { ...headers, 'webhook-timestamp': `${seconds}abc` };
    expect(() => webhook.verify(signedBody, lax)).not.toThrow();
  }
  const tomorrow = seconds + 86_400;
  const signature = `t=${tomorrow},v1=${hmac(`${tomorrow}.${signedBody}`).digest('hex')}`;
  const { webhooks } = new Stripe('sk_test_unused');
  expect(webhooks.constructEvent(otherBytes, signature, secret)).toMatchObject({ object: 'event' });
  const octokit = new Webhooks({ secret });
  let handled = 0;
  octokit.on('issues.opened', () => void (handled += 1));
  const payload = '{"action":"opened"}';
  for (let attempt = 0; attempt < 2; attempt += 1)
    await octokit.verifyAndReceive({
      id: 'a',
      name: 'issues',
      payload,
      signature: `sha256=${hmac(payload).digest('hex')}`,
    });
  expect(handled).toBe(2);
});

it('each receiver has as many lines as the reference of the receiver kit says', async () => {
  const page = await readFile(join(root, 'packages/webhook-receiver/docs/reference.md'), 'utf8');
  const [, ...cells] =
    /^\| lines of a program.*$/m
      .exec(page)?.[0]
      .split('|')
      .map((cell) => cell.trim()) ?? [];
  const lines = await Promise.all(receivers.map(({ name }) => linesOf(name)));
  expect(cells.slice(1, -1)).toEqual(lines.map(String));
});
