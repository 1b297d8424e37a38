import { createLender, issueCredential } from '@deedwire/actions';
import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import type { RunningServer } from '@deedwire/service-runtime';
import { type Credential, postGraphql } from '@deedwire/testing';
import { buildSchema, getNamedType, type GraphQLObjectType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  insertAttempts,
  insertDelivery,
  insertExchange,
  insertPayload,
  insertSubscription,
  type StoredDelivery,
  type StoredSubscription,
} from './support/stored-deliveries.ts';

const contracts = { lender, partner };
const cases = (['lender', 'partner'] as const).flatMap((name) =>
  contracts[name].versions.map(({ version }) => ({ name, version })),
);

let harness: Harness;
let services: Record<'lender' | 'partner', RunningServer>;
/** Of another account of each interface. */
let strangers: Record<'lender' | 'partner', Credential>;
const stored = new Map<string, { subscription: StoredSubscription; delivery: StoredDelivery }>();

beforeAll(async () => {
  harness = await createHarness();
  services = { lender: await harness.startLenderApi(), partner: await harness.startPartnerApi() };
  const { organizationId } = harness.accounts.lender.credential;
  const { id } = await createLender(harness.operator, { organizationId, name: 'Other lender' });
  strangers = {
    lender: await issueCredential(harness.operator, { interfaceName: 'lender', accountId: id, clientId: null }),
    partner: harness.accounts.otherPartner.credential,
  };
  for (const name of ['lender', 'partner'] as const) {
    await services[name].whenReady;
    const subscription = await insertSubscription(harness, name, harness.accounts[name]);
    const delivery = await insertDelivery(harness, subscription);
    await insertAttempts(harness, subscription, delivery, [500], new Date());
    await insertExchange(harness, subscription, delivery, Buffer.from(`answer of ${name}`));
    await insertPayload(harness, subscription, delivery, Buffer.from(`{"secret":"of ${name}"}`));
    stored.set(name, { subscription, delivery });
  }
});
afterAll(() => harness.close());

/** Selects every field that needs no argument. Records lead to others, so it ends at connections and at types that it is in. */
function selectAll(type: GraphQLObjectType, parents: readonly string[] = []): string {
  const fields = Object.values(type.getFields()).map((field) => {
    const named = getNamedType(field.type);
    if (!isObjectType(named)) return field.name;
    const isRecord = parents.includes(named.name) || named.name.endsWith('Connection');
    const page = field.args.some((argument) => argument.name === 'first') ? '(first: 1)' : '';
    return isRecord ? '' : `${field.name}${page} ${selectAll(named, [...parents, type.name])}`;
  });
  return `{ ${fields.join(' ')} }`;
}

describe.each(cases)('the $name interface at $version', ({ name, version }) => {
  const type = buildSchema(contracts[name].sdl(version)).getType('WebhookDelivery');
  if (!isObjectType(type)) throw new Error('There is no type WebhookDelivery.');
  const selection = selectAll(type);

  async function read(credential: Credential, query: string): Promise<unknown> {
    const headers = { 'X-Service-Schema-Version': version };
    const { status, body } = await postGraphql(`${services[name].url}/${name}s/graphql`, credential, {
      query,
      headers,
    });
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

  test.each(['lender', 'partner'])('answers the delivery of a foreign %s as one that does not exist', async (owner) => {
    const missing = { webhookDelivery: null };
    const gid = stored.get(owner)?.delivery.gid;
    const answer = (id: string | undefined) => read(strangers[name], `{ webhookDelivery(id: "${id}") ${selection} }`);
    expect(await answer('gid://service/WebhookDelivery/123')).toEqual(missing);
    expect(await answer(gid)).toEqual(missing);
    const other = name === owner ? strangers[name] : harness.accounts[name].credential;
    expect(await read(other, `{ webhookDelivery(id: "${gid}") ${selection} }`)).toEqual(missing);
  });

  test.each(['lender', 'partner'])('lists no deliveries of the subscription of a foreign %s', async (owner) => {
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
});
