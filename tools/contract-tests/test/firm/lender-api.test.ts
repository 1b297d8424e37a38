import { createAccount, issueCredential } from '@deedwire/actions';
import { createHarness } from '@deedwire/dev-environment/test/firm/harness';
import { postGraphql, type Credential } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { describe, expect, test } from 'vitest';

const harness = await forFile(createHarness());
const lenderKey = harness.accounts.lender.credential;
const { organizationId } = lenderKey;
const { id: otherLenderId } = await createAccount(harness.operator, 'lender', { organizationId, name: 'Other lender' });
const colleagueKey = await issueCredential(harness.operator, {
  interfaceName: 'lender',
  accountId: otherLenderId,
  clientId: null,
});
const service = await harness.startLenderApi({
  WEBHOOK_CALLBACK_POLICY: 'public',
  WEBHOOK_DENIED_RANGES: { includes: (address) => address === '9.9.9.9' },
  WEBHOOK_EGRESS_ADDRESSES: ['198.51.100.7', '2001:db8:1::/64'],
});
await service.whenReady;

test('returns no members of another lender of the same organization', async () => {
  const { body } = await call(colleagueKey, '{ lender { name members { id } } }');
  expect(body).toEqual({ data: { lender: { name: 'Other lender', members: [] } }, extensions: expect.any(Object) });
});

test('lists the addresses from which webhooks come, and none by default', async () => {
  const query = '{ webhookEgressAddresses }';
  const webhookEgressAddresses = ['198.51.100.7', '2001:db8:1::/64'];
  expect((await call(lenderKey, query)).body.data).toEqual({ webhookEgressAddresses });
  const partnerApi = await harness.startPartnerApi();
  await partnerApi.whenReady;
  const url = `${partnerApi.url}/partners/graphql`;
  const { body } = await postGraphql(url, harness.accounts.partner.credential, { query });
  expect(body.data).toEqual({ webhookEgressAddresses: [] });
});

test('lists only the event types of lenders, and rejects callback URLs that are not public HTTPS URLs or are denied', async () => {
  const { body } = await call<{ webhookEventTypes: { type: string }[] }>(lenderKey, '{ webhookEventTypes { type } }');
  const types = body.data?.webhookEventTypes.map(({ type }) => type);
  expect(types).toEqual(
    webhookEventTypes.filter(({ interfaces }) => interfaces.includes('lender')).map(({ type }) => type),
  );
  expect(types).toContain('lender.updated');
  expect(types).not.toContain('referral.created');

  const create = `mutation ($url: String!) {
    createWebhookSubscription(input: { callbackUrl: $url, eventTypes: [{ type: "lender.updated" }] }) { userErrors { code } }
  }`;
  for (const url of ['http://example.com/', 'https://127.0.0.1/', 'https://[::1]/', 'https://9.9.9.9/']) {
    const response = await call(lenderKey, create, { url });
    expect(response.body.data).toEqual({
      createWebhookSubscription: { userErrors: [{ code: 'CALLBACK_URL_FORBIDDEN' }] },
    });
  }
});

describe('an identifier of another form or type', () => {
  const operations: [name: string, document: string, argument: string, type: string][] = [
    ['webhookSubscription', '{ webhookSubscription(id: $id) { id } }', 'id', 'WebhookSubscription'],
    ['webhookDelivery', '{ webhookDelivery(id: $id) { id } }', 'id', 'WebhookDelivery'],
    [
      'webhookDeliveries',
      '{ webhookDeliveries(subscriptionId: $id) { nodes { id } } }',
      'subscriptionId',
      'WebhookSubscription',
    ],
    [
      'updateWebhookSubscription',
      '{ updateWebhookSubscription(input: { id: $id }) { userErrors { code } } }',
      'input.id',
      'WebhookSubscription',
    ],
    [
      'sendPendingWebhookDeliveries',
      '{ sendPendingWebhookDeliveries(input: { subscriptionId: $id }) { userErrors { code } } }',
      'input.subscriptionId',
      'WebhookSubscription',
    ],
    [
      'deleteWebhookSubscription',
      '{ deleteWebhookSubscription(input: { id: $id }) { userErrors { code } } }',
      'input.id',
      'WebhookSubscription',
    ],
  ];
  const ids = ['abc', 'gid://service/Matter/1', 'gid://other/WebhookSubscription/1', ''];

  test.each(operations)(
    '%s is treated as unknown in 2026-11-01, and rejected from 2027-02-01 on',
    async (name, document, argument, type) => {
      const kind = name.startsWith('webhook') ? 'query' : 'mutation';
      const ask = (id: string, version: string) =>
        call(lenderKey, `${kind} ($id: ID!) ${document}`, { id }, { 'X-Service-Schema-Version': version });
      for (const id of ids) {
        const lenient = await ask(id, '2026-11-01');
        expect(lenient.body.errors).toBeUndefined();
        const strict = await ask(id, '2027-02-01');
        expect(strict.body).toMatchObject({
          errors: [
            {
              message: `\`${argument}\` must be the global identifier of a ${type}, such as "gid://service/${type}/123"; it is "${id}".`,
              extensions: { code: 'BAD_USER_INPUT' },
            },
          ],
        });
      }
      const unknown = await ask(`gid://service/${type}/999`, '2027-02-01');
      expect(unknown.body.errors).toBeUndefined();
    },
  );
});

function call<Data>(
  credential: Credential,
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) {
  return postGraphql<Data>(`${service.url}/lenders/graphql`, credential, { query, variables, headers });
}
