import { issueCredential } from '@deedwire/actions';
import type { InterfaceName } from '@deedwire/core/test-service';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import { eventually, missing, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { buildSchema, getNamedType, type GraphQLSchema, isLeafType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { contracts, served } from './support/interface-contracts.ts';
import { conflictsIn } from './support/object-identity.ts';

interface Case {
  readonly type: string;
  /** Of the event type, which the two subscriptions pin. */
  readonly pins: readonly [string, string];
  readonly cause: (t: SharedSystem) => Promise<unknown>;
}

const events: Record<InterfaceName, Case> = {
  customer: { type: 'order.placed', pins: ['2026-11-01', '2027-02-01'], cause: (t) => t.place(1) },
  supplier: {
    type: 'api_key.created',
    pins: ['2026-11-01', '2026-11-01'],
    cause: (t) =>
      issueCredential(t.operator, { interfaceName: 'supplier', accountId: t.accounts.supplier.id, clientId: null }),
  },
};
const cases = served.map(({ account, date }) => ({ account, date, ...events[account] }));

const receiver = await forFile(startReceiver());

/** Subscribes twice, causes an event, and returns a function that reads what both subscriptions have of it. */
async function deliverTwice({ account, date, type, pins, cause }: (typeof cases)[number]) {
  const t = await forTest(joinSharedSystem());
  const { send, mutate } = createInterfaceClient(t, account, date);
  const subscribe = async (version: string): Promise<string> => {
    const { webhookSubscription } = await mutate<{ webhookSubscription: { id: string } | null }>(
      'createWebhookSubscription',
      'webhookSubscription { id }',
      { callbackUrl: receiver.url, eventTypes: [{ type, version }] },
    );
    return webhookSubscription?.id ?? missing();
  };
  const variables = { a: await subscribe(pins[0]), b: await subscribe(pins[1]) };
  await cause(t);
  return (event: string, deliveryEvent: string) => {
    const document = `query ($a: ID!, $b: ID!) {
      a: webhookEvents(subscriptionId: $a) { nodes { ${event} } }
      b: webhookEvents(subscriptionId: $b) { nodes { ${event} } }
      deliveries: webhookDeliveries(first: 2) { nodes { id subscriptionId event { ${deliveryEvent} } } }
    }`;
    return eventually(async () => {
      const { body } = await send<{ nodes: Record<string, unknown>[] }>(document, variables);
      const { a, b, deliveries } = body.data ?? {};
      if (a?.nodes.length !== 1 || b?.nodes.length !== 1 || deliveries?.nodes.length !== 2)
        throw new Error(JSON.stringify(body));
      return { document, variables, data: { a, b, deliveries } };
    });
  };
}

/** The names of the fields that a client can select and that are not deprecated. */
function fieldsOf(schema: GraphQLSchema, name: string): string {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`${name} is no object type.`);
  return Object.values(type.getFields())
    .filter((field) => field.deprecationReason === undefined && isLeafType(getNamedType(field.type)))
    .map((field) => field.name)
    .join(' ');
}

test.each(cases)(
  'a client that normalizes tells what two subscriptions have of an event: $account $date',
  async (each) => {
    const schema = buildSchema(contracts[each.account].sdl(each.date));
    const read = await deliverTwice(each);
    const found = await read(fieldsOf(schema, 'WebhookEvent'), fieldsOf(schema, 'WebhookDeliveryEvent'));
    const [one, other] = [found.data.a.nodes[0], found.data.b.nodes[0]];
    expect([one?.['version'], other?.['version']]).toEqual(each.pins);
    expect(one?.['eventId']).toBe(other?.['eventId']);
    expect(one?.['deliveryId']).not.toBe(other?.['deliveryId']);
    expect(conflictsIn(schema, [found])).toEqual([]);
  },
);

test.each(cases.filter(({ date }) => date === '2026-11-01'))(
  'the deprecated id is that of the event, which is one object to such a client: $account $date',
  async (each) => {
    const schema = buildSchema(contracts[each.account].sdl(each.date));
    const read = await deliverTwice(each);
    const found = await read('id eventId deliveryId', 'id eventId');
    const { a, b, deliveries } = found.data;
    const ids = [...a.nodes, ...b.nodes, ...deliveries.nodes.map(({ event }) => Object(event))];
    expect(ids).toHaveLength(4);
    for (const { id, eventId } of ids) expect([id, eventId]).toEqual([a.nodes[0]?.['id'], a.nodes[0]?.['id']]);
    expect(a.nodes[0]?.['id']).toMatch(/^gid:\/\/service\/WebhookEvent\/\d+$/);
    expect(conflictsIn(schema, [found])).toEqual(['WebhookEvent.deliveryId']);
  },
);
