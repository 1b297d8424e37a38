import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { postGraphql, startReceiver } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';

/** Behind a transaction pooler, an app keeps the first one for its sessions, and names the others. */
const settings = [
  `datestyle = 'German, DMY'`,
  ...(process.env['TEST_POOLER_URL']
    ? []
    : [
        'array_nulls = off',
        `default_transaction_isolation = 'serializable'`,
        'quote_all_identifiers = on',
        'row_security = off',
      ]),
];

test('subscribes, creates, receives and reads in a database with other settings', async () => {
  const harness = await createHarness();
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await harness.close();
    await receiver.close();
  });
  const name = new URL(harness.database.databaseUrl).pathname.slice(1);
  for (const setting of settings) await harness.sql(`alter database "${name}" set ${setting}`);
  const api = await harness.startPartnerApi();
  await api.whenReady;
  await harness.startWorker();

  const request = async (query: string, input: object): Promise<Record<string, unknown>> => {
    const url = `${api.url}/partners/graphql`;
    const { body } = await postGraphql(url, harness.accounts.partner.credential, { query, variables: { input } });
    expect(body.errors).toBeUndefined();
    return body.data ?? {};
  };
  const eventTypes = [{ type: 'referral.created' }];
  const subscribed = await request(
    `mutation ($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { message } }
    }`,
    { callbackUrl: receiver.url, eventTypes },
  );
  expect(subscribed['createWebhookSubscription']).toMatchObject({ userErrors: [] });
  const listening = await request(
    `mutation ($input: CreateWebhookListenerInput!) {
      createWebhookListener(input: $input) { webhookListener { id } userErrors { message } }
    }`,
    { eventTypes },
  );
  expect(listening['createWebhookListener']).toMatchObject({ userErrors: [] });
  const startMs = Date.now();
  const created = await request(
    `mutation ($input: CreateReferralInput!) {
      createReferral(input: $input) { referral { id createdAt note clientEmail } userErrors { message } }
    }`,
    { clientName: 'Ada' },
  );
  expect(created['createReferral']).toMatchObject({ referral: { note: null, clientEmail: null }, userErrors: [] });

  const [delivery] = await receiver.waitFor(1);
  const event = JSON.parse(String(delivery?.body));
  expect(Math.abs(Date.parse(event.timestamp) - startMs)).toBeLessThan(60_000);
  expect(event).toMatchObject({ type: 'referral.created', data: { externalReference: null } });
  await expect
    .poll(async () => (await harness.deliveries())[0])
    .toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 204 }] });

  const operator = { DATABASE_URL: await harness.database.urlFor('operator') };
  expect(await callOperator(operator, 'database', 'check', '--json')).toMatchObject({ exitCode: 0 });
});
