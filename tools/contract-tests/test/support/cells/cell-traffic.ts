import { setTimeout as sleep } from 'node:timers/promises';
import {
  createAccount,
  createOrganization,
  issueCredential,
  type OperatorContext,
  setClientLimit,
  systemRandom,
} from '@deedwire/actions';
import { testService } from '@deedwire/core/test-service';
import { createStore } from '@deedwire/store';
import { createClient, type Credential, missing, patientTimeouts, postGraphql } from '@deedwire/testing';
import { expect } from 'vitest';
import type { DeliveryLog } from '../faults/delivery-log.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { type EventReader, startEventReader } from '../reads.ts';
import { subscribe } from '../subscribe.ts';

/** An organization with a customer, whose orders are delivered to two subscriptions and a listener, and a supplier. */
export interface Organization {
  /** The global identifier. */
  id: string;
  /** The number of the account of the customer. */
  accountIds: string[];
  customer: Credential;
  supplier: Credential;
  /** Of the customer: one whose receiver answers at once, and one whose receiver fails some first attempts. */
  subscriptions: { steady: string; flaky: string };
  listener: string;
  supplierSubscription: string;
  /** The points of the customer's client. */
  limit: number;
  /** Orders that were acknowledged, with the key of the request and when that was, on the clock of this process. */
  accepted: { accountId: string; recordId: string; idempotencyKey: string; atMs: number }[];
  /** The last acknowledged name of the supplier's subscription. */
  supplierName: string;
}

const numberOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1);
const pauseMs = 80;
let limits = 500_000;
let names = 0;

type Payload = Record<string, { id: string }> & { userErrors: { code: string }[] };

/** Sends a mutation with its input, and resolves with its payload. Rejects if it was not accepted. */
async function mutate(url: string, credential: Credential, query: string, input: object): Promise<Payload> {
  const { status, body } = await postGraphql<Record<string, Payload>>(url, credential, {
    query,
    variables: { input },
  });
  const [payload] = Object.values(body.data ?? {});
  if (status !== 200 || payload?.userErrors.length !== 0) throw new Error(`HTTP ${status}: ${JSON.stringify(body)}`);
  return payload;
}

/** @param url of the proxy */
export async function addOrganization(
  databaseUrl: string,
  url: string,
  received: DeliveryLog,
  name: string,
): Promise<Organization> {
  const store = createStore({ databaseUrl, applicationName: 'oracle', timeouts: patientTimeouts });
  const context: OperatorContext = {
    store,
    service: testService,
    gidNamespace: 'service',
    now: () => new Date(),
    random: systemRandom,
    operator: { name: 'oracle', host: 'localhost', requestId: 'oracle' },
  };
  try {
    const { id } = await createOrganization(context, { name });
    const account = async (interfaceName: 'supplier' | 'customer') => {
      const created = await createAccount(context, interfaceName, { organizationId: id, name });
      const credential = await issueCredential(context, { interfaceName, accountId: created.id, clientId: null });
      await setClientLimit(context, { clientId: credential.clientId, maximum: (limits += 1), restoreRate: limits });
      return { accountId: numberOf(created.id), credential };
    };
    const [supplier, customer] = [await account('supplier'), await account('customer')];
    const client = createClient(`${url}/customer/graphql`, customer.credential);
    const subscribeTo = async (path: string): Promise<string> => {
      const created = await subscribe(client, {
        callbackUrl: `${received.url}/${path}`,
        eventTypes: [{ type: 'order.placed' }],
      });
      received.setSecret(created.id, created.secret);
      return created.id;
    };
    const subscriptions = { steady: await subscribeTo('steady'), flaky: await subscribeTo('flaky') };
    const { webhookListener } = await mutate(
      `${url}/customer/graphql`,
      customer.credential,
      `mutation ($input: CreateWebhookListenerInput!) {
        createWebhookListener(input: $input) { webhookListener { id } userErrors { code } }
      }`,
      { eventTypes: [{ type: 'order.placed' }] },
    );
    const { id: supplierSubscription } = await subscribe(createClient(`${url}/supplier/graphql`, supplier.credential), {
      callbackUrl: `${received.url}/supplier`,
      eventTypes: [{ type: 'api_key.created' }],
    });
    return {
      id,
      accountIds: [customer.accountId, supplier.accountId],
      customer: customer.credential,
      supplier: supplier.credential,
      subscriptions,
      listener: webhookListener?.id ?? missing(),
      supplierSubscription,
      limit: limits,
      accepted: [],
      supplierName: '',
    };
  } finally {
    await store.close();
  }
}

/** The clients of an organization. */
export interface Traffic {
  readonly load: Load;
  /** Ends the readers of the subscription and of the listener once they have as many events, which have to be in order. */
  stopReaders(count: number): Promise<void>;
  stop(): Promise<ReadonlySet<string>>;
}

const expectedFailures =
  /^(?:503|503 SERVICE_UNAVAILABLE|503 OPERATION_TIMEOUT|no response.*|IDEMPOTENCY_IN_PROGRESS)$/s;

/** Places orders, changes the supplier's subscription, and reads the events of the customer from their begin, page by page. */
export function startTraffic(url: string, organization: Organization): Traffic {
  const { customer, supplier, subscriptions, listener, supplierSubscription, accepted } = organization;
  const [accountId = missing()] = organization.accountIds;
  const client = createClient(`${url}/customer/graphql`, customer);
  const load = startLoad({
    accounts: [{ accountId }],
    clientOf: () => client,
    concurrency: 2,
    pauseMs,
    log: { add: async (entry) => void accepted.push({ ...entry, atMs: performance.now() }) },
  });
  const readers: EventReader[] = [subscriptions.steady, listener].map((id) =>
    startEventReader(`${url}/customer/graphql`, customer, id),
  );
  let isOver = false;
  const rename = async (): Promise<void> => {
    while (!isOver) {
      const name = `Name ${(names += 1)}`;
      const input = { id: supplierSubscription, name };
      const query = `mutation ($input: UpdateWebhookSubscriptionInput!) {
        updateWebhookSubscription(input: $input) { webhookSubscription { name } userErrors { code } }
      }`;
      while (
        !(await mutate(`${url}/supplier/graphql`, supplier, query, input).then(
          () => true,
          () => false,
        ))
      )
        await sleep(pauseMs);
      organization.supplierName = name;
      await sleep(4 * pauseMs);
    }
  };
  const renaming = rename();
  return {
    load,
    async stopReaders(count) {
      for (const { sequences, failures } of await Promise.all(readers.map((reader) => reader.stop(count)))) {
        expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, index) => index + 1));
        expect([...failures].filter((failure) => !expectedFailures.test(failure))).toEqual([]);
      }
    },
    async stop() {
      isOver = true;
      // They end with the request that waits for an event.
      for (const reader of readers) void reader.stop(0);
      await renaming;
      const { failures } = await load.stop();
      expect([...failures].filter((failure) => !expectedFailures.test(failure))).toEqual([]);
      return failures;
    },
  };
}

/** Sends the last deliveries of a subscription again, one in a second. Returns the replay, and its sequences. */
export async function replayLast(url: string, { customer, subscriptions }: Organization, last: number) {
  const sequences = { fromSequence: Math.max(1, last - 19), toSequence: last };
  const { webhookReplay } = await mutate(
    `${url}/customer/graphql`,
    customer,
    `mutation ($input: ReplayWebhookEventsInput!) {
      replayWebhookEvents(input: $input) { webhookReplay { id } userErrors { code } }
    }`,
    { subscriptionId: subscriptions.steady, ...sequences, onlyFailed: false, maxPerSecond: 1 },
  );
  return { id: webhookReplay?.id ?? missing(), ...sequences };
}

export type Replay = Awaited<ReturnType<typeof replayLast>>;

/** What the owner of an organization answers after a split as before it. */
export async function expectContinued(url: string, organization: Organization, replay: Replay | null): Promise<void> {
  const { customer, supplier, supplierSubscription, limit, accepted } = organization;
  const read = async (path: string, credential: Credential, query: string, variables: object = {}) => {
    const { status, headers, body } = await postGraphql(`${url}${path}/graphql`, credential, { query, variables });
    expect([status, body.errors]).toEqual([200, undefined]);
    return { headers, data: body.data };
  };
  const { headers } = await read('/customer', customer, '{ customer { name } }');
  expect(headers.get('RateLimit-Policy')).toContain(`q=${limit};`);
  const named = await read('/supplier', supplier, 'query ($id: ID!) { webhookSubscription(id: $id) { name } }', {
    id: supplierSubscription,
  });
  expect(named.data).toEqual({ webhookSubscription: { name: organization.supplierName } });
  if (replay !== null) {
    const query = 'query ($id: ID!) { webhookReplay(id: $id) { status } }';
    const found = await read('/customer', customer, query, { id: replay.id });
    expect(found.data).toEqual({ webhookReplay: { status: 'COMPLETED' } });
  }
  const step = Math.max(1, Math.floor(accepted.length / 5));
  for (const { recordId, idempotencyKey } of accepted.filter((_, index) => index % step === 0)) {
    const query = `mutation ($input: PlaceOrderInput!) {
      placeOrder(input: $input) { order { id } userErrors { code } }
    }`;
    const again = await read('/customer', customer, query, { input: { item: 'Tea', idempotencyKey } });
    expect(again.data).toEqual({ placeOrder: { order: { id: recordId }, userErrors: [] } });
  }
}
