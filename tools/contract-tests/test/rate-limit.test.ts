import { setTimeout as sleep } from 'node:timers/promises';
import { issueCredential, setClientLimit } from '@deedwire/actions';
import { createHarness, callOperator } from '@deedwire/dev-environment/harness';
import { defaultCostLimit } from '@deedwire/graphql-server';
import {
  connect,
  type Credential,
  eventually,
  type GraphqlResponse,
  postGraphql,
  untilBlocked,
} from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { contracts, served } from './support/interface-contracts.ts';

const harness = await forFile(createHarness());
const services = [await harness.startApi('customer'), await harness.startApi('customer')];
for (const service of services) await service.whenReady;
/** Two processes of the customer interface. */
const urls = services.map(({ url }) => `${url}/customer/graphql`);
const adminUrl = services[0]?.adminUrl ?? '';

/** A new client, whose bucket contains `points`. */
async function newClient(maximum: number, restoreRate: number, points = maximum): Promise<Credential> {
  const { id: accountId } = harness.accounts.customer;
  const credential = await issueCredential(harness.operator, { interfaceName: 'customer', accountId, clientId: null });
  const { clientId } = credential;
  await setClientLimit(harness.operator, { clientId, maximum, restoreRate });
  await harness.sql(
    'update cost_bucket set points = $2 where api_client_id = (select id from api_client where client_id = $1)',
    [clientId, points],
  );
  return credential;
}

interface Cost {
  requestedQueryCost: number;
  actualQueryCost: number;
  throttleStatus: { maximumAvailable: number; currentlyAvailable: number; restoreRate: number };
}

type Response = GraphqlResponse<Record<string, unknown>> & { body: { extensions?: { cost: Cost } } };

async function send(credential: Credential, query: string, url = urls[0] ?? '', headers = {}): Promise<Response> {
  return postGraphql(url, credential, { query, headers });
}

/** Costs 1 point. */
const cheap = '{ __typename }';
/** Costs several hundred points before it runs, and almost none afterwards. */
const broad = '{ webhookDeliveries(first: 100, status: FAILED) { nodes { id attempts { number } } } }';

/** Costs more than 1,000 points. */
const twice =
  '{ a: webhookDeliveries(first: 100) { nodes { attempts { number } } } b: webhookDeliveries(first: 100) { nodes { attempts { number } } } }';

/** Sends the cheap query until it is rejected, and returns the number of points that were admitted and the rejection. */
async function exhaust(credential: Credential, url?: string): Promise<{ admitted: number; rejection: Response }> {
  for (let admitted = 0; ; admitted += 1) {
    const response = await send(credential, cheap, url);
    if (response.status === 429) return { admitted, rejection: response };
    expect(response.status).toBe(200);
  }
}

const countOrders = () => harness.sql('select count(*) from customer_order');

const policyOf = ({ headers }: Response): string | null => headers.get('RateLimit-Policy');

test('pages beside a field that fails cost as if they were in the response', async () => {
  const credential = await newClient(2_000, 1);
  const pages = ['a', 'b', 'c'].map((name) => `${name}: webhookDeliveries(first: 100) { nodes { id } }`).join(' ');
  const { body } = await send(credential, `{ ${pages} z: webhookDeliveries(first: 0) { nodes { id } } }`);
  expect(body).toMatchObject({ data: null, errors: [{ path: ['z'] }] });
  const cost = body.extensions?.cost;
  expect(cost?.actualQueryCost).toBe(cost?.requestedQueryCost);
  expect(cost?.actualQueryCost).toBeGreaterThan(150);
  const alone = await send(credential, '{ webhookDeliveries(first: 100, after: "x") { nodes { id } } }');
  expect(alone.body).toMatchObject({ data: null });
  expect(alone.body.extensions?.cost.actualQueryCost).toBe(1);
});

describe('the headers', () => {
  test('state the size of the bucket and the points that are left', async () => {
    const credential = await newClient(2_000, 200);
    const response = await send(credential, broad);
    const cost = response.body.extensions?.cost;
    expect(cost?.requestedQueryCost).toBeGreaterThan(300);
    expect(cost?.actualQueryCost).toBeLessThan(5);
    expect(cost?.throttleStatus).toMatchObject({ maximumAvailable: 2_000, restoreRate: 200 });
    expect(policyOf(response)).toBe('"clientCostPoints";q=2000;w=10');
    expect(response.headers.get('RateLimit')).toMatch(/^"clientCostPoints";r=(?:19\d\d;t=1|2000)$/);
  });

  test.each([
    ['a document that is not valid', '{ nothing }', { Accept: 'application/graphql-response+json' }, 400],
    ['an unknown version', cheap, { 'X-Service-Schema-Version': '1999-01-01' }, 400],
    ['an operation that is too complex', twice, {}, 200],
  ])('are in the response to %s', async (_, query, headers, status) => {
    const credential = await newClient(5_000, 3);
    const response = await send(credential, query, urls[0], headers);
    expect(response.status).toBe(status);
    expect(policyOf(response)).toBe('"clientCostPoints";q=5000;w=1667');
  });

  test('are in no response to a request without valid credentials', async () => {
    const response = await send({ clientId: 'x', apiKey: 'y', organizationId: 'z' }, cheap);
    expect(response.status).toBe(401);
    expect([policyOf(response), response.headers.get('RateLimit')]).toEqual([null, null]);
  });

  test('are promised by the contracts, as are the limits of a new client', async () => {
    for (const { account, date } of served) {
      const manifest = contracts[account].manifest(date);
      expect(manifest['responseHeaders']).toMatchObject({
        RateLimit: { sent: 'authenticated' },
        'RateLimit-Policy': { sent: 'authenticated' },
      });
      expect(manifest['limits']).toMatchObject({
        clientCostPoints: { value: defaultCostLimit.maximum },
        clientCostPointsRestoredPerSecond: { value: defaultCostLimit.restoreRate },
      });
    }
    const rows = await harness.sql(
      `select column_default as value from information_schema.columns
       where table_name = 'api_client' and column_name like 'cost_%' order by column_name`,
    );
    expect(rows.map(({ value }) => Number(value))).toEqual([defaultCostLimit.maximum, defaultCostLimit.restoreRate]);
  });
});

describe('a client without points', () => {
  test('gets 429 with the limit, the cost and the time to wait, and is served again', async () => {
    const credential = await newClient(1_000, 1, 20);
    const { admitted, rejection } = await exhaust(credential);
    expect(admitted).toBeGreaterThanOrEqual(20);
    expect(rejection.body.errors?.[0]).toMatchObject({
      message:
        'The operation costs 1 point, but your client has 0. The limit clientCostPoints is 1,000 points, restored at 1 per ' +
        'second. Retry after the time in the Retry-After header.',
      extensions: {
        code: 'RATE_LIMITED',
        cost: {
          requestedQueryCost: 1,
          limit: 1_000,
          throttleStatus: { maximumAvailable: 1_000, currentlyAvailable: 0, restoreRate: 1 },
        },
      },
    });
    expect(rejection.body).not.toHaveProperty('data');
    expect(rejection.headers.get('Retry-After')).toBe('1');
    // Points can be restored before the header is written.
    expect(rejection.headers.get('RateLimit')).toMatch(/^"clientCostPoints";r=\d;t=1$/);

    await send(await newClient(1_000, 1), broad);
    // The price of an operation is known to a client that has a point: without one, its request is not read.
    await eventually(async () => {
      const large = await send(credential, broad);
      expect(large.status).toBe(429);
      expect(Number(large.headers.get('Retry-After'))).toBeGreaterThan(300);
    });
    await eventually(async () => expect((await send(credential, cheap)).status).toBe(200));
  });

  test('does not affect another client of its account', async () => {
    const credential = await newClient(1_000, 1, 20);
    await exhaust(credential);
    expect((await send(await newClient(1_000, 1), cheap)).status).toBe(200);
  });

  test('has no points at another process either', async () => {
    const credential = await newClient(1_000, 1, 20);
    const startedMs = performance.now();
    const first = await exhaust(credential);
    const second = await exhaust(credential, urls[1]);
    const seconds = (performance.now() - startedMs) / 1000;
    expect(first.admitted + second.admitted).toBeLessThanOrEqual(20 + seconds + 2);
  });

  test('cannot run a mutation, which then changes nothing', async () => {
    const credential = await newClient(1_000, 1, 1);
    await exhaust(credential);
    const before = await countOrders();
    const response = await send(
      credential,
      'mutation { placeOrder(input: { item: "Client" }) { userErrors { code } } }',
    );
    expect(response.status).toBe(429);
    expect(await countOrders()).toEqual(before);
  });
});

test('the first operation of a client waits for its points while the database is slow, even if they are more than a process spends in advance', async () => {
  const credential = await newClient(2_000, 200);
  const [holder, observer] = [await connect(harness.database.databaseUrl), await connect(harness.database.databaseUrl)];
  await holder.run('begin; select from cost_bucket for update');
  const sent = send(credential, broad);
  await untilBlocked(observer);
  await sleep(1_500);
  await Promise.all([holder.close(), observer.close()]);
  const { status, body } = await sent;
  expect(status).toBe(200);
  expect(body.extensions?.cost.throttleStatus.currentlyAvailable).toBeGreaterThan(1_900);
});

test('mutations and handshakes cost points', async () => {
  const credential = await newClient(1_000, 1);
  const costOf = async (mutation: string): Promise<number | undefined> =>
    (await send(credential, `mutation { ${mutation} { userErrors { code } } }`)).body.extensions?.cost.actualQueryCost;
  const url = 'callbackUrl: "https://receiver.invalid/"';
  const costs = {
    placeOrder: await costOf('placeOrder(input: { item: "Client" })'),
    createWebhookSubscription: await costOf(
      `createWebhookSubscription(input: { ${url}, eventTypes: [{ type: "order.placed" }] })`,
    ),
    updateWebhookSubscription: await costOf(
      `updateWebhookSubscription(input: { id: "gid://service/WebhookSubscription/1", ${url} })`,
    ),
  };
  for (const cost of Object.values(costs)) expect(cost).toBeGreaterThan(1);
});

test('another limit applies to running processes, and is in the audit log', async () => {
  const credential = await newClient(1_000, 1, 20);
  await exhaust(credential);
  const { clientId } = credential;
  const env = { DATABASE_URL: await harness.database.urlFor('operator') };
  const options = ['--maximum', '3000', '--restore-rate', '1000'];
  const set = await callOperator(env, 'client', 'set-limit', clientId, ...options, '--json');
  expect(set).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(set.stdout)).toEqual({
    clientId,
    maximum: 3_000,
    restoreRate: 1_000,
    previousMaximum: 1_000,
    previousRestoreRate: 1,
  });
  await eventually(async () => {
    const response = await send(credential, cheap);
    expect(response.status).toBe(200);
    expect(policyOf(response)).toBe('"clientCostPoints";q=3000;w=3');
  });
  expect(
    await harness.sql(`select details from audit_entry where action = 'client.set-limit' and subject = $1`, [clientId]),
  ).toContainEqual({
    details: {
      command: 'client.set-limit',
      old: { cost_maximum: '1000', cost_restore_rate: '1' },
      new: { cost_maximum: '3000', cost_restore_rate: '1000' },
    },
  });
});

test('the metrics count admitted and rejected charges, and points', async () => {
  await exhaust(await newClient(1_000, 10, 20));
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  for (const series of [
    'deedwire_cost_charges_total{interface="customer",result="admitted",basis="held"}',
    'deedwire_cost_charges_total{interface="customer",result="admitted",basis="settled"}',
    'deedwire_cost_charges_total{interface="customer",result="rejected",basis="settled"}',
    'deedwire_cost_points_total{interface="customer",kind="charged"}',
    'deedwire_cost_points_total{interface="customer",kind="refunded"}',
    'deedwire_cost_settlements_total{interface="customer",result="succeeded"}',
  ]) {
    expect(metrics).toMatch(new RegExp(`^${series.replaceAll(/[{}]/g, String.raw`\$&`)} [1-9]`, 'm'));
  }
});
