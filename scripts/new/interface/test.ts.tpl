import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { missing, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { parseWebhookBody } from '@deedwire/webhook-events';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect, test } from 'vitest';

const t = await forFile(joinSharedSystem());
const receiver = await forFile(startReceiver());

async function send<Data>(query: string, input?: object): Promise<Data> {
  const headers = { 'X-Service-Schema-Version': '{{version}}' };
  const { credential } = t.accounts['{{name}}'];
  const request = { query, variables: { input }, headers };
  const { body } = await postGraphql<Data>(t.urls['{{name}}'], credential, request);
  expect(body.errors).toBeUndefined();
  return body.data ?? missing();
}

const update = `mutation ($input: Update{{pascal}}Input!) {
  update{{pascal}}(input: $input) { {{camel}} { id name } userErrors { code field } }
}`;

test('a change is delivered as {{snake}}.updated, signed and as its contract says', async () => {
  const { createWebhookSubscription } = await send<{ createWebhookSubscription: { webhookSecret: string } }>(
    `mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) { webhookSecret } }`,
    { callbackUrl: receiver.url, eventTypes: [{ type: '{{snake}}.updated', version: '{{version}}' }] },
  );

  const account = { id: t.accounts['{{name}}'].id, name: 'Harbour “Supplies” 🏠' };
  for (let repeat = 0; repeat < 2; repeat += 1)
    expect(await send(update, { name: account.name })).toEqual({
      update{{pascal}}: { {{camel}}: account, userErrors: [] },
    });
  expect(await send('{ {{camel}} { id name } }')).toEqual({ {{camel}}: account });

  const [delivery] = await receiver.waitFor(1);
  const body = String(delivery?.body);
  verifyWebhook({ headers: delivery?.headers ?? {}, body, secret: createWebhookSubscription.webhookSecret });
  expect(parseWebhookBody(body)).toMatchObject({
    kind: 'event',
    event: { type: '{{snake}}.updated', version: '{{version}}', data: { {{camel}}Id: account.id, name: account.name } },
  });
});

test('a blank name changes nothing', async () => {
  expect(await send(update, { name: ' ' })).toEqual({
    update{{pascal}}: { {{camel}}: null, userErrors: [{ code: 'NAME_INVALID', field: ['input', 'name'] }] },
  });
});
