import { createWebhookSender, type Resolve, type WebhookSender } from '@deedwire/webhook-sender';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createWebhookSubscription, updateWebhookSubscription, type UserError } from '../src/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const eventTypes = [{ type: 'order.placed' }];
const callbackUrl = 'https://vault.corp.example/';

let subscriptionId: string;
/** The URLs of the handshakes, in order. */
let verified: string[];

beforeEach(async () => {
  ({ id: subscriptionId } = await world.subscribe());
  verified = [];
});

const fails =
  (code: string): Resolve =>
  () =>
    Promise.reject(Object.assign(new Error('queryA'), { code }));

/** The user errors of creating a subscription, and of changing the URL of another one, with a real sender. */
async function userErrors(url: string, resolve: Resolve): Promise<UserError<string>[][]> {
  const sender = createWebhookSender({
    policy: 'public',
    userAgent: 'test',
    headerPrefix: 'X-Service',
    timeoutMs: 50,
    deniedRanges: { includes: (address) => address === '9.9.9.9' },
    resolve,
  });
  onTestFinished(() => sender.close());
  const verify: WebhookSender['verify'] = (request) => {
    verified.push(request.url);
    return sender.verify(request);
  };
  const context = { ...world.customerApi, sender: { ...sender, verify } };
  const caller = { ...world.customer, requestId: 'request-1' };
  const created = await createWebhookSubscription(context, caller, { callbackUrl: url, eventTypes });
  const updated = await updateWebhookSubscription(context, caller, { id: subscriptionId, callbackUrl: url });
  return [created.userErrors, updated.userErrors];
}

test.each<[string, Resolve]>([
  ['ENOTFOUND', fails('ENOTFOUND')],
  ['ENODATA', async () => []],
  ['ETIMEOUT', () => new Promise(() => {})],
  ['10.1.2.3 is not public', async () => ['10.1.2.3']],
  ['9.9.9.9 is denied', async () => ['9.9.9.9']],
])(
  'tells the client nothing about a name that cannot be called, and the operator what was found: %s',
  async (found, resolve) => {
    const error = {
      code: 'VERIFICATION_UNREACHABLE',
      message:
        'Could not resolve vault.corp.example to public addresses. Check its spelling and its A and AAAA records: the name must exist in public DNS, and at least one of its addresses must be public.',
      field: ['input', 'callbackUrl'],
    };
    expect(await userErrors(callbackUrl, resolve)).toEqual([[error], [error]]);
    expect(verified).toEqual([callbackUrl, callbackUrl]);
    const reported = { requestId: 'request-1', host: 'vault.corp.example', found };
    expect(world.customerApi.hostProblems).toEqual([reported, reported]);
  },
);

test.each([
  ['https://10.1.2.3/', 'CALLBACK_URL_FORBIDDEN'],
  ['https://9.9.9.9/', 'CALLBACK_URL_FORBIDDEN'],
  ['https://-a.example/', 'CALLBACK_URL_INVALID'],
])('refuses %s without a handshake', async (url, code) => {
  expect(await userErrors(url, fails('ENOTFOUND'))).toMatchObject([[{ code }], [{ code }]]);
  expect(verified).toEqual([]);
  expect(world.customerApi.hostProblems).toEqual([]);
});

test('a bug in the sender is no user error: the mutation rejects with it', async () => {
  const bug = new TypeError("Cannot read properties of null (reading 'setServername')");
  await expect(userErrors(callbackUrl, () => Promise.reject(bug))).rejects.toBe(bug);
  expect(world.customerApi.hostProblems).toEqual([]);
});
