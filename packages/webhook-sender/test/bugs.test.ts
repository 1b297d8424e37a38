import { recordUncaughtErrors } from '@deedwire/testing/uncaught-errors';
import { expect, test } from 'vitest';
import type { DetailsPolicy, WebhookSenderOptions } from '../src/index.ts';
import { delivery, secret, sender, type TargetedDelivery } from './sender.ts';
import { httpReceiver } from './test-receivers.ts';

const bug = new TypeError("Cannot read properties of null (reading 'x')");
const throwing = (): never => {
  throw bug;
};
const policy: DetailsPolicy = { keeps: () => true, takeBytes: () => true, returnBytes() {} };

const bugs: Readonly<Record<string, Partial<WebhookSenderOptions>>> = {
  'the clock': { now: throwing },
  'the resolver': { resolve: throwing },
  'the resolver, later': { resolve: () => Promise.reject(bug) },
};

test.each(Object.entries(bugs))(
  'a bug in %s rejects, is no fault of the receiver, and blocks no close',
  async (_where, options) => {
    const uncaught = recordUncaughtErrors();
    const { deliver, verify, close } = sender(options);
    await expect(deliver(delivery('http://receiver.example/'))).rejects.toBe(bug);
    await expect(verify({ url: 'http://receiver.example/', secret })).rejects.toBe(bug);
    await close();
    expect(await uncaught()).toEqual([]);
  },
);

const brokenDeliveries: Readonly<Record<string, [Partial<TargetedDelivery>, unknown]>> = {
  'the choice of details': [{ details: { ...policy, keeps: throwing } }, bug],
  'the budget of details': [{ details: { ...policy, takeBytes: throwing } }, bug],
  'the return of a budget': [{ details: { ...policy, returnBytes: throwing } }, bug],
  'the id': [{ webhookId: 'a\r\nb: c' }, expect.objectContaining({ code: 'ID_INVALID' })],
  'a header of HTTP': [
    { headers: { expect: '100-continue' } },
    expect.objectContaining({ code: 'UND_ERR_NOT_SUPPORTED' }),
  ],
};

test.each(Object.entries(brokenDeliveries))(
  'a bug in %s rejects on a new and on an idle connection, which it closes',
  async (_where, [more, error]) => {
    const uncaught = recordUncaughtErrors();
    const receiver = await httpReceiver((response) => response.end());
    const { deliver, close } = sender({ timeoutMs: 60_000 });
    await expect(deliver(delivery(receiver.url, more))).rejects.toEqual(error);
    expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
    await expect(deliver(delivery(receiver.url, more))).rejects.toEqual(error);
    await close();
    await expect.poll(() => receiver.connections.filter(({ destroyed }) => !destroyed)).toEqual([]);
    expect(await uncaught()).toEqual([]);
  },
);

test('a malformed secret is the result of a handshake, with a text that is true', async () => {
  const receiver = await httpReceiver((response) => response.end());
  expect(await sender().verify({ url: receiver.url, secret: 'whsec_x' })).toEqual({
    verified: false,
    code: 'VERIFICATION_UNREACHABLE',
    message:
      'The request could not be signed. What follows "whsec_" is not padded, canonical base64 of the right length. A webhook secret is "whsec_" followed by the base64 of 24 to 64 bytes.',
  });
  expect(receiver.requests).toEqual([]);
});
