import { setTimeout as sleep } from 'node:timers/promises';
import {
  createAccount,
  createOrganization,
  issueCredential,
  type OperatorContext,
  setClientLimit,
  systemRandom,
} from '@deedwire/actions';
import { firm } from '@deedwire/firm';
import { createStore } from '@deedwire/store';
import { createClient, type Credential, missing, patientTimeouts, postGraphql } from '@deedwire/testing';
import { expect } from 'vitest';
import { refer } from '../../firm/support/fault-system.ts';
import type { DeliveryLog } from '../faults/delivery-log.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { type EventReader, startEventReader } from '../reads.ts';
import { subscribe } from '../subscribe.ts';

/** An organization with a partner, whose referrals are delivered to two subscriptions and a listener, and a lender. */
export interface Organization {
  /** The global identifier. */
  id: string;
  /** The number of the account of the partner. */
  accountIds: string[];
  partner: Credential;
  lender: Credential;
  /** Of the partner: one whose receiver answers at once, and one whose receiver fails some first attempts. */
  subscriptions: { steady: string; flaky: string };
  listener: string;
  lenderSubscription: string;
  /** The points of the partner's client. */
  limit: number;
  /** Referrals that were acknowledged, with the key of the request and when that was, on the clock of this process. */
  accepted: { accountId: string; recordId: string; idempotencyKey: string; atMs: number }[];
  /** The last acknowledged name of the lender's subscription. */
  lenderName: string;
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
    service: firm,
    gidNamespace: 'service',
    now: () => new Date(),
    random: systemRandom,
    operator: { name: 'oracle', host: 'localhost', requestId: 'oracle' },
  };
  try {
    const { id } = await createOrganization(context, { name });
    const account = async (interfaceName: 'lender' | 'partner') => {
      const created = await createAccount(context, interfaceName, { organizationId: id, name });
      const credential = await issueCredential(context, { interfaceName, accountId: created.id, clientId: null });
      await setClientLimit(context, { clientId: credential.clientId, maximum: (limits += 1), restoreRate: limits });
      return { accountId: numberOf(created.id), credential };
    };
    const [lender, partner] = [await account('lender'), await account('partner')];
    const client = createClient(`${url}/partners/graphql`, partner.credential);
    const subscribeTo = async (path: string): Promise<string> => {
      const created = await subscribe(client, {
        callbackUrl: `${received.url}/${path}`,
        eventTypes: [{ type: 'referral.created' }],
      });
      received.setSecret(created.id, created.secret);
      return created.id;
    };
    const subscriptions = { steady: await subscribeTo('steady'), flaky: await subscribeTo('flaky') };
    const { webhookListener } = await mutate(
      `${url}/partners/graphql`,
      partner.credential,
      `mutation ($input: CreateWebhookListenerInput!) {
        createWebhookListener(input: $input) { webhookListener { id } userErrors { code } }
      }`,
      { eventTypes: [{ type: 'referral.created' }] },
    );
    const { id: lenderSubscription } = await subscribe(createClient(`${url}/lenders/graphql`, lender.credential), {
      callbackUrl: `${received.url}/lender`,
      eventTypes: [{ type: 'lender.updated' }],
    });
    return {
      id,
      accountIds: [partner.accountId, lender.accountId],
      partner: partner.credential,
      lender: lender.credential,
      subscriptions,
      listener: webhookListener?.id ?? missing(),
      lenderSubscription,
      limit: limits,
      accepted: [],
      lenderName: '',
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

/** Creates referrals, changes the lender's subscription, and reads the events of the partner from their begin, page by page. */
export function startTraffic(url: string, organization: Organization): Traffic {
  const { partner, lender, subscriptions, listener, lenderSubscription, accepted } = organization;
  const [accountId = missing()] = organization.accountIds;
  const client = createClient(`${url}/partners/graphql`, partner);
  const load = startLoad({
    accounts: [{ accountId }],
    clientOf: () => client,
    concurrency: 2,
    pauseMs,
    write: refer,
    log: { add: async (entry) => void accepted.push({ ...entry, atMs: performance.now() }) },
  });
  const readers: EventReader[] = [subscriptions.steady, listener].map((id) =>
    startEventReader(`${url}/partners/graphql`, partner, id),
  );
  let isOver = false;
  const rename = async (): Promise<void> => {
    while (!isOver) {
      const name = `Name ${(names += 1)}`;
      const input = { id: lenderSubscription, name };
      const query = `mutation ($input: UpdateWebhookSubscriptionInput!) {
        updateWebhookSubscription(input: $input) { webhookSubscription { name } userErrors { code } }
      }`;
      while (
        !(await mutate(`${url}/lenders/graphql`, lender, query, input).then(
          () => true,
          () => false,
        ))
      )
        await sleep(pauseMs);
      organization.lenderName = name;
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
export async function replayLast(url: string, { partner, subscriptions }: Organization, last: number) {
  const sequences = { fromSequence: Math.max(1, last - 19), toSequence: last };
  const { webhookReplay } = await mutate(
    `${url}/partners/graphql`,
    partner,
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
  const { partner, lender, lenderSubscription, limit, accepted } = organization;
  const read = async (path: string, credential: Credential, query: string, variables: object = {}) => {
    const { status, headers, body } = await postGraphql(`${url}${path}/graphql`, credential, { query, variables });
    expect([status, body.errors]).toEqual([200, undefined]);
    return { headers, data: body.data };
  };
  const { headers } = await read('/partners', partner, '{ partner { name } }');
  expect(headers.get('RateLimit-Policy')).toContain(`q=${limit};`);
  const named = await read('/lenders', lender, 'query ($id: ID!) { webhookSubscription(id: $id) { name } }', {
    id: lenderSubscription,
  });
  expect(named.data).toEqual({ webhookSubscription: { name: organization.lenderName } });
  if (replay !== null) {
    const query = 'query ($id: ID!) { webhookReplay(id: $id) { status } }';
    const found = await read('/partners', partner, query, { id: replay.id });
    expect(found.data).toEqual({ webhookReplay: { status: 'COMPLETED' } });
  }
  const step = Math.max(1, Math.floor(accepted.length / 5));
  for (const { recordId, idempotencyKey } of accepted.filter((_, index) => index % step === 0)) {
    const query = `mutation ($input: CreateReferralInput!) {
      createReferral(input: $input) { referral { id } userErrors { code } }
    }`;
    const again = await read('/partners', partner, query, { input: { clientName: 'Ada', idempotencyKey } });
    expect(again.data).toEqual({ createReferral: { referral: { id: recordId }, userErrors: [] } });
  }
}
