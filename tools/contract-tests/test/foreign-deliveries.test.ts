import { createAccount, issueCredential } from '@deedwire/actions';
import { interfaceNames } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { type Credential, missing, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { buildSchema, isObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashTables } from './support/homes.ts';
import { startInterfaces } from './support/interface-client.ts';
import { contracts, othersThan, served } from './support/interface-contracts.ts';
import { type IdType, operationsWithId, selectAll } from './support/operations-with-id.ts';
import {
  insertAttempts,
  insertDelivery,
  insertExchange,
  insertListener,
  insertPayload,
  insertSubscription,
  type StoredDelivery,
  insertReplay,
  type StoredSubscription,
} from './support/stored-deliveries.ts';

interface Stored {
  subscription: StoredSubscription;
  delivery: StoredDelivery;
  replay: string;
  listener: string;
}
const stored = new Map<string, Stored>();

/** The record of each type. */
const gidsOf = ({ subscription, delivery, replay, listener }: Stored): Record<IdType, string> => ({
  WebhookSubscription: subscription.gid,
  WebhookDelivery: delivery.gid,
  WebhookReplay: replay,
  WebhookListener: listener,
});

const harness = await forFile(createHarness());
const { urls } = await startInterfaces(harness);
const { organizationId } = harness.accounts.supplier.credential;
const { id: otherSupplierId } = await createAccount(harness.operator, 'supplier', {
  organizationId,
  name: 'Other supplier',
});
/** Of another account of each interface. */
const strangers = {
  customer: harness.accounts.otherCustomer.credential,
  // In the same organization.
  supplier: await issueCredential(harness.operator, {
    interfaceName: 'supplier',
    accountId: otherSupplierId,
    clientId: null,
  }),
};
for (const name of interfaceNames) {
  const subscription = await insertSubscription(harness, name, harness.accounts[name]);
  const delivery = await insertDelivery(harness, subscription);
  await insertAttempts(harness, subscription, delivery, [500], new Date());
  await insertExchange(harness, subscription, delivery, Buffer.from(`answer of ${name}`));
  await insertPayload(harness, subscription, delivery, Buffer.from(`{"secret":"of ${name}"}`));
  const replay = await insertReplay(harness, subscription);
  const listener = await insertListener(harness, name, harness.accounts[name]);
  stored.set(name, { subscription, delivery, replay, listener });
}
// A read would move its end.
await harness.sql(`update webhook_subscription set last_read_at = now() - interval '20 hours' where kind = 'LISTENER'`);

/** Each request costs points, uses the key, and is counted, which is stored every minute. */
const ofRequests = new Set(['api_key', 'cost_bucket', 'interface_use', 'use_counting']);

async function hashRecords(): Promise<[table: string, hash: unknown][]> {
  return Object.entries(await hashTables(harness)).filter(([table]) => !ofRequests.has(table));
}

describe.each(served)('the $account interface at $date', ({ account: name, date }) => {
  const schema = buildSchema(contracts[name].sdl(date));
  const type = schema.getType('WebhookDelivery');
  if (!isObjectType(type)) throw new Error('There is no type WebhookDelivery.');
  const selection = selectAll(type);

  const send = (credential: Credential, query: string) =>
    postGraphql(urls[name], credential, { query, headers: { 'X-Service-Schema-Version': date } });

  async function read(credential: Credential, query: string): Promise<unknown> {
    const { status, body } = await send(credential, query);
    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
    return body.data;
  }

  test('answers every field of a delivery to its owner', async () => {
    const own = stored.get(name);
    const gid = own?.delivery.gid;
    const { credential } = harness.accounts[name];
    expect(await read(credential, `{ webhookDelivery(id: "${gid}") ${selection} }`)).toMatchObject({
      webhookDelivery: {
        id: gid,
        subscription: { id: own?.subscription.gid },
        payload: `{"secret":"of ${name}"}`,
        attempts: [
          { number: 1, exchange: { responseBody: `answer of ${name}`, responseHeaders: [{ name: 'a', value: 'b' }] } },
        ],
      },
    });
  });

  test.each(interfaceNames)('lists no deliveries of the subscription of a foreign %s', async (owner) => {
    const gid = stored.get(owner)?.subscription.gid;
    for (const filter of [
      '',
      'status: DELIVERED',
      'status: PENDING',
      'status: FAILED',
      'status: EXPIRED',
      'eventType: "webhook.test"',
      'since: "2026-01-01T00:00:00Z"',
      'until: "2090-01-01T00:00:00Z"',
    ]) {
      const list = `{ webhookDeliveries(subscriptionId: "${gid}" first: 1 ${filter}) { nodes ${selection} } }`;
      expect(await read(strangers[name], list)).toEqual({ webhookDeliveries: { nodes: [] } });
    }
  });

  const operations = operationsWithId(schema);

  test('has the operations of the owner of a webhook', () => {
    expect(operations.map(({ name: operation }) => operation)).toEqual(
      expect.arrayContaining([
        'webhookDelivery',
        'webhookReplay',
        'webhookReplays',
        'sendTestWebhookEvent',
        'retryWebhookDelivery',
        'replayWebhookEvents',
        'cancelWebhookReplay',
        'rotateWebhookSecret',
        'deleteWebhookListener',
      ]),
    );
  });

  test('lists no foreign subscription or listener', async () => {
    const lists = '{ webhookSubscriptions { nodes { id } } webhookListeners { id } }';
    expect(await read(strangers[name], lists)).toEqual({ webhookSubscriptions: { nodes: [] }, webhookListeners: [] });
  });

  describe('an operation', () => {
    let before: Awaited<ReturnType<typeof hashRecords>>;
    beforeAll(async () => {
      before = await hashRecords();
    });

    test.each(operations)(
      'answers $name about a foreign $idType as about one that does not exist',
      async (operation) => {
        for (const [owner, credential] of [
          [name, strangers[name]] as const,
          ...othersThan(name).map((other) => [other, harness.accounts[name].credential] as const),
        ]) {
          const gid = gidsOf(stored.get(owner) ?? missing())[operation.idType];
          const answerTo = async (id: string): Promise<string> => {
            const { status, body } = await send(credential, operation.document(id));
            expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
            return JSON.stringify(body.data).replaceAll(id, 'the id');
          };
          expect(await answerTo(gid)).toBe(await answerTo(gid.replace(/\d+$/, '123')));
        }
      },
    );

    test('about a foreign record has changed nothing', async () => {
      expect(await hashRecords()).toEqual(before);
    });
  });

  test.each(operations.filter(({ document }) => document('').startsWith('query')))(
    'answers $name to the owner of the $idType otherwise',
    async ({ idType, document }) => {
      const own = gidsOf(stored.get(name) ?? missing());
      const { credential } = harness.accounts[name];
      expect(await read(credential, document(own[idType]))).not.toEqual(
        await read(credential, document(own[idType].replace(/\d+$/, '123'))),
      );
    },
  );
});
