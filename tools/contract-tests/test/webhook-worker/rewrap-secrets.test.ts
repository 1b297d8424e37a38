import { randomBytes } from 'node:crypto';
import { callOperator } from '@deedwire/dev-environment/harness';
import { createSecretKeyRing } from '@deedwire/store';
import type { ReceivedRequest } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

test('deliveries keep their signatures while secrets move to a new key, and without the old key', async ({
  harness,
  receiver,
}) => {
  const oldKey = randomBytes(32);
  const newKey = randomBytes(32);
  const newKeys = new Map([['new', newKey]]);
  const bothKeys = new Map([...newKeys, ['test', oldKey]]);
  harness.customerApi.secretKeys = createSecretKeyRing(new Map([['test', oldKey]]));

  const worker = await harness.startWorker({ WEBHOOK_SECRET_KEYS: bothKeys });
  const { secret } = await harness.subscribe(receiver.url, ['order.placed']);
  const isSigned = ({ headers, body }: ReceivedRequest) =>
    verifyWebhook({ prefix: 'X-Service', headers, body, secret }).id !== null;
  const deliver = async (count: number) => {
    await harness.place(1);
    expect((await receiver.waitFor(count)).map(isSigned)).toEqual(Array.from({ length: count }, () => true));
  };
  await deliver(1);

  const env = {
    DATABASE_URL: await harness.database.urlFor('operator'),
    WEBHOOK_SECRET_KEYS: [...bothKeys].map(([id, key]) => `${id}:${key.toString('base64')}`).join(),
  };
  expect(await callOperator(env, 'secrets', 'list')).toEqual({
    exitCode: 0,
    stdout: 'table                 key   secrets\nwebhook_subscription  test  1\n',
    stderr: '',
  });
  expect(await callOperator(env, 'secrets', 'rewrap')).toEqual({
    exitCode: 0,
    stdout:
      'table                 key   before  after\n' +
      'webhook_subscription  test  1       0\n' +
      'webhook_subscription  new   0       1\n',
    stderr: '',
  });
  await deliver(2);

  await harness.startWorker({ WEBHOOK_SECRET_KEYS: newKeys });
  await harness.stopWorker(worker);
  await deliver(3);
});

test('names the secrets of a key that is missing, and exits with 1', async ({ harness, receiver }) => {
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  const env = { DATABASE_URL: await harness.database.urlFor('operator') };
  expect(await callOperator(env, 'secrets', 'rewrap')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: This command needs the keys of webhook secrets. Set WEBHOOK_SECRET_KEYS as for the apps.\n',
  });
  const WEBHOOK_SECRET_KEYS = `new:${randomBytes(32).toString('base64')}`;
  const result = await callOperator({ ...env, WEBHOOK_SECRET_KEYS }, 'secrets', 'rewrap', '--json');
  const counts = [{ table: 'webhook_subscription', keyId: 'test', secrets: 1 }];
  expect(JSON.parse(result.stdout)).toMatchObject({ before: counts, after: counts, unreadable: 1 });
  expect(result.exitCode).toBe(1);
  expect(JSON.parse(result.stderr)).toEqual({
    error: {
      code: 'FAILED',
      message:
        'Secrets that cannot be decrypted, and were not changed: 1.\n' +
        `  ${id}: WEBHOOK_SECRET_KEYS contains no key 'test'. Add the key that encrypted this secret.`,
    },
  });
});
