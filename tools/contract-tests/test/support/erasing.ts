import { callOperatorWith, startTestSystem } from '@deedwire/dev-environment/firm-harness';
import { addTeamMember } from '@deedwire/firm/lender';
import type { TeamMemberDetails } from '@deedwire/firm/lender';
import type { ReferralDetails } from '@deedwire/firm/partner';
import { missing, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { onTestFinished } from 'vitest';
import { dump } from './dump.ts';
import { skipPauses } from './skip-pauses.ts';
import { subscribe as subscribeWith } from './subscribe.ts';

/** Each is the only one of its kind, so that it is found in any spelling. */
export const person = { firstName: 'Ördög-Plånted', lastName: 'Žluťoučký', email: 'Ördög.Žluťoučký@Plånted.example' };
export const client = {
  clientName: 'Ördög-Plånted',
  clientEmail: person.email,
  externalReference: 'CRM-Plånted',
  note: 'Plånted?',
};
export const planted = [person.firstName, person.lastName, person.email, 'CRM-Plånted', 'Plånted?'];

/** The details of a record that identify, and what replaces each: text that is unique, an address that is unique, or null. */
export const identifyingDetails = {
  Referral: { clientName: 'text', clientEmail: null, externalReference: null, note: null, declineReason: null },
  TeamMember: { firstName: 'text', lastName: 'text', email: 'address' },
} as const satisfies {
  Referral: Record<keyof ReferralDetails | 'declineReason', 'text' | null>;
  TeamMember: Record<keyof TeamMemberDetails, 'address' | 'text'>;
};

/** What replaces a detail of a record, by its global identifier. */
export function placeholderOf(gid: string, kind: 'address' | 'text'): string {
  const placeholder = `erased-${gid.split('/').at(-1)}`;
  return kind === 'text' ? placeholder : `${placeholder}@erased.invalid`;
}

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

/** The spellings of the person that a text has. */
export function findIn(text: string): string[] {
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
  createReferral: { referral: { id: string }; userErrors: object[] };
  createWebhookListener: { webhookListener: { id: string } };
  deleteWebhookListener: object;
  deleteWebhookSubscription: object;
  lender: object;
  pauseWebhookSubscription: object;
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
export const memberTypes = ['team_member.added', 'team_member.updated', 'team_member.removed'];

/** A system in which persons are erased, and what tests ask it. For one test file. */
export async function startErasing() {
  skipPauses();
  /** What the apps have logged. */
  const lines: string[] = [];
  const t = await forFile(startTestSystem({ env: { LOG_LEVEL: 'debug' }, onLine: (_, line) => lines.push(line) }));
  const lender = t.accounts.lender;
  const partner = t.accounts.partner;
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

  async function ask(account: 'lender' | 'partner', query: string, variables: object = {}): Promise<Data> {
    const { body } = await postGraphql<Data>(t.urls[account], t.accounts[account].credential, {
      query,
      variables,
    });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data ?? missing();
  }

  /** Until the test ends: an erasure waits 11 s for deliveries of its records, of which other tests have none. */
  async function subscribe(account: 'lender' | 'partner', { url }: Receiver, types: string[]): Promise<string> {
    await t.forgetHandshakes();
    const input = { callbackUrl: url, eventTypes: types.map((type) => ({ type })) };
    const { id } = await subscribeWith(t[account], input);
    onTestFinished(async () => {
      await ask(
        account,
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
      `select t::text from team_member t union all select r::text from referral r union all select k::text from idempotency_key k
       union all select e::text from webhook_event e union all select p::text from webhook_payload p
       union all select a::text from audit_entry a union all select p::text from person_erasure p`,
    );

  const list = async (account: 'lender' | 'partner', id: string, status?: string) =>
    (await ask(account, listed, { id, status })).webhookDeliveries.nodes;
  const statusesOf = async (...of: Parameters<typeof list>) =>
    (await list(...of)).map(({ status: found, payloadDeletion }) => `${found} ${payloadDeletion}`);

  const retry = async (id: string) =>
    (
      await ask(
        'lender',
        `mutation ($input: RetryWebhookDeliveryInput!) { retryWebhookDelivery(input: $input) { userErrors { code } } }`,
        { input: { id } },
      )
    ).retryWebhookDelivery.userErrors;

  const refer = async (idempotencyKey: string, details: object = client) =>
    (
      await ask(
        'partner',
        'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }',
        { input: { ...details, idempotencyKey } },
      )
    ).createReferral;

  async function plant() {
    const member = await addTeamMember(t.operator, { lenderId: lender.id, ...person });
    const { referral } = await refer(`Key of ${member.id}`);
    return { memberId: member.id, referralId: referral.id };
  }
  return {
    t,
    lines,
    lender,
    partner,
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
    refer,
    plant,
  };
}
