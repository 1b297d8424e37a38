import { eventOf } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import {
  insertDelivery,
  insertPayload,
  insertSubscription,
  type StoredDelivery,
  type StoredSubscription,
} from './support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const t = await startInterfaces(harness);

/** What a delivery that is sent would add to. */
const count = () =>
  harness.sql(`select (select count(*) from webhook_payload) as payloads, (select count(*) from webhook_attempt) as attempts,
    (select count(*) from webhook_event_queue) as queued, (select count(*) from webhook_pending_delivery) as pending`);

describe.each([
  { name: 'customer', date: '2026-11-01', type: 'order.placed', version: '2027-02-01' },
  { name: 'supplier', date: '2027-02-01', type: 'api_key.created', version: '2026-11-01' },
] as const)('the $name interface', ({ name, date, type, version }) => {
  const account = harness.accounts[name];
  const { send } = createInterfaceClient(t, name, date);
  const event = eventOf(testService, type) ?? missing();
  const sample = event.sample('service');
  let subscription: StoredSubscription;

  beforeAll(async () => {
    subscription = await insertSubscription(harness, name, account);
  });

  /** A delivery with the payload `sent`, and its event. */
  async function deliver(snapshot: object | null): Promise<StoredDelivery> {
    const delivery = await insertDelivery(harness, subscription, { eventType: type });
    await insertPayload(harness, subscription, delivery, Buffer.from('sent'));
    if (snapshot !== null)
      await harness.sql(
        `insert into webhook_event (id, account_id, interface, event_type, snapshot)
         values (${delivery.eventId}, ${account.accountId}, '${name}', '${type}', '${JSON.stringify(snapshot)}')`,
      );
    return delivery;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each test reads other fields
  async function preview({ gid }: StoredDelivery, wanted: string = version): Promise<any> {
    const query = `query ($id: ID!, $version: String!) { webhookDelivery(id: $id) { payload preview(version: $version) } }`;
    return (await send(query, { id: gid, version: wanted })).body;
  }

  test('renders the event of a delivery, and stores nothing', async () => {
    const delivery = await deliver(sample);
    const before = await count();
    const { data, errors, extensions } = await preview(delivery);
    expect(errors).toBeUndefined();
    const body = JSON.parse(data.webhookDelivery.preview);
    const { data: contract } = event.versions.find((each) => each.version === version) ?? missing();
    expect(body).toEqual({
      id: `gid://service/WebhookEvent/${delivery.eventId}`,
      type,
      version,
      timestamp: expect.stringMatching(/Z$/),
      data: contract.parse(body.data),
    });
    expect(data.webhookDelivery.payload).toBe('sent');
    expect(await count()).toEqual(before);
    expect(extensions.cost.requestedQueryCost).toBeGreaterThanOrEqual(512);
    expect(extensions.cost.actualQueryCost).toBeLessThan(5);
  });

  test('returns null if the stored data does not suffice, or is deleted', async () => {
    for (const snapshot of [{}, { ...sample, order: null, apiKey: null }, null]) {
      const { data, errors } = await preview(await deliver(snapshot));
      expect(errors).toBeUndefined();
      expect(data).toEqual({ webhookDelivery: { payload: 'sent', preview: null } });
    }
  });

  test.each(['2020-01-01', '', 'constructor'])('refuses the version "%s" with those that exist', async (wanted) => {
    const { data, errors } = await preview(await deliver(sample), wanted);
    expect(data).toEqual({ webhookDelivery: { payload: 'sent', preview: null } });
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining(`"${type}" has no version "${wanted}". It has: 2026-11-01`),
        path: ['webhookDelivery', 'preview'],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });
});
