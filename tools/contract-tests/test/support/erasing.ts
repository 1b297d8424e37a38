import { callOperatorWith, startTestSystem, type TestAccount } from '@deedwire/dev-environment/harness';
import { missing, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { onTestFinished } from 'vitest';
import { dump } from './dump.ts';
import { skipPauses } from './skip-pauses.ts';
import { subscribe as subscribeWith } from './subscribe.ts';

/** Each is the only one of its kind, so that it is found in any spelling. */
export const person = { buyerEmail: 'Ördög.Žluťoučký@Plånted.example', note: 'Žluťoučký Plånted?' };
const details = { item: 'Tea', ...person };

/** How a text can be spelled where it is kept. */
const spellingsOf = (text: string): string[] => [
  text.toLowerCase(),
  text.normalize('NFD').toLowerCase(),
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .toLowerCase(),
  encodeURIComponent(text).toLowerCase(),
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64').slice(0, -4).toLowerCase(),
];

/** The spellings that a text has of these texts, which are those of the person unless others are given. */
export function findIn(text: string, planted: readonly string[] = Object.values(person)): string[] {
  const lower = text.toLowerCase();
  return planted.flatMap(spellingsOf).filter((spelling) => lower.includes(spelling));
}
export interface Listed {
  id: string;
  status: string;
  payloadDeletion: string | null;
}

/** What the requests select. */
interface Data {
  createWebhookListener: { webhookListener: { id: string } };
  placeOrder: { order: { id: string }; userErrors: object[] };
  replayWebhookEvents: { webhookReplay: { id: string } };
  retryWebhookDelivery: { userErrors: object[] };
  webhookDeliveries: { nodes: Listed[] };
  webhookDelivery: object;
  webhookEvents: { edges: { sequence: string; node: { payload: string | null; payloadDeletion: string | null } }[] };
  webhookReplay: object;
}
const listed = `query ($id: ID, $status: WebhookDeliveryStatus) {
  webhookDeliveries(first: 100, subscriptionId: $id, status: $status) { nodes { id status payloadDeletion } }
}`;
export const whole = `query ($id: ID!) { webhookDelivery(id: $id) { status payload preview(version: "2026-11-01")
  event { eventId } nextAttemptAt delay { message } attempts(first: 5) { number advice
    exchange { requestHeaders { value } responseHeaders { value } responseBody responseBodyBase64 } } } }`;

export const events = `query ($id: ID!) { webhookEvents(subscriptionId: $id, first: 100) {
  edges { sequence node { eventId payload payloadDeletion } } lastSequence
} }`;
export const accepted = { exitCode: 0, stderr: '' };
export const orderTypes = ['order.placed'];

/** The number of a record. */
export const numberOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1);

/** A system in which persons are erased, and what tests ask it. For one test file. */
export async function startErasing() {
  skipPauses();
  /** What the apps have logged. */
  const lines: string[] = [];
  const t = await forFile(startTestSystem({ env: { LOG_LEVEL: 'debug' }, onLine: (_, line) => lines.push(line) }));
  const { customer, otherCustomer } = t.accounts;
  const env = {
    DATABASE_URL: await t.database.urlFor('operator'),
    DATABASE_DIRECT_URL: t.database.databaseUrl,
    OPERATOR_NAME: 'ada',
  };

  /** What the database has, with the samples of rows that the planner keeps. */
  const dumpAll = () => dump(t, 'pg_stats');

  const good = await forFile(startReceiver());
  /** Returns what it gets, as a proxy does that shows requests. */
  const broken = await forFile(
    startReceiver({
      onDelivery: (response, { body }) =>
        response.writeHead(500, { 'X-Echo': encodeURIComponent(body.toString()) }).end(body),
    }),
  );

  async function ask(query: string, variables: object = {}, { credential }: TestAccount = customer): Promise<Data> {
    const { body } = await postGraphql<Data>(t.urls.customer, credential, { query, variables });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data ?? missing();
  }

  /** Until the test ends: an erasure waits 11 s for deliveries of its records, of which other tests have none. */
  async function subscribe({ url }: Receiver, types = orderTypes): Promise<string> {
    await t.forgetHandshakes();
    const input = { callbackUrl: url, eventTypes: types.map((type) => ({ type })) };
    const { id } = await subscribeWith(t.customer, input);
    onTestFinished(async () => {
      await ask(
        `mutation ($input: DeleteWebhookSubscriptionInput!) { deleteWebhookSubscription(input: $input) { userErrors { message } } }`,
        { input: { id } },
      );
    });
    return id;
  }

  async function erase(...options: string[]) {
    // An address is read from standard input.
    const at = options.indexOf('--email') + 1;
    const given = at === 0 ? options : options.with(at, '-');
    const result = await callOperatorWith({ env, input: Buffer.from(options[at] ?? '') }, 'person', 'erase', ...given);
    // On a slow machine, it shows its progress after 10 s.
    return { ...result, stderr: result.stderr.replaceAll(/^(?:Read|Vacuuming|Waiting) .*\n/gm, '') };
  }

  /** What only the command changes. */
  const erasable = () =>
    t.sql(
      `select o::text from customer_order o union all select k::text from idempotency_key k
       union all select e::text from webhook_event e union all select p::text from webhook_payload p
       union all select a::text from audit_entry a union all select p::text from person_erasure p`,
    );

  const list = async (id: string, status?: string) => (await ask(listed, { id, status })).webhookDeliveries.nodes;
  const statusesOf = async (...of: Parameters<typeof list>) =>
    (await list(...of)).map(({ status: found, payloadDeletion }) => `${found} ${payloadDeletion}`);

  const retry = async (id: string) =>
    (
      await ask(
        `mutation ($input: RetryWebhookDeliveryInput!) { retryWebhookDelivery(input: $input) { userErrors { code message } } }`,
        { input: { id } },
      )
    ).retryWebhookDelivery.userErrors;

  const place = async (idempotencyKey: string | null, of: object = details, account: TestAccount = customer) =>
    (
      await ask(
        'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } userErrors { code } } }',
        { input: { ...of, idempotencyKey } },
        account,
      )
    ).placeOrder;

  let planted = 0;
  /** Places an order of the person. Returns its id. The result of a key is saved for a day, and does not go with a removed order. */
  const plant = async (account: TestAccount = customer, hasKey = true): Promise<string> =>
    (await place(hasKey ? `Key ${(planted += 1)}` : null, details, account)).order.id;
  /** As an operator. */
  async function remove(orderId: string): Promise<void> {
    await t.sql(
      `with removed as (delete from customer_order where id = $1 returning account_id, interface)
       insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
       select 'OPERATOR', 'ada', 'order.remove', $2, account_id, interface from removed`,
      [numberOf(orderId), orderId],
    );
  }
  return {
    t,
    lines,
    customer,
    otherCustomer,
    env,
    dump: dumpAll,
    good,
    broken,
    ask,
    subscribe,
    erase,
    erasable,
    list,
    statusesOf,
    retry,
    place,
    plant,
    remove,
  };
}
