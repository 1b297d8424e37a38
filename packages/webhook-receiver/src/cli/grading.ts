import type { Agent, OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { deliveryHeaders, type EventBody, newDeliveryId, newNumber, sampleEvent, type Signing } from './delivery.ts';
import { agentOf, type Answer, send } from './send.ts';
import type { Target } from './target.ts';
import { parsedJson } from './text.ts';

export interface GradeOptions extends Target {
  readonly secret: string;
  /** A second secret that the receiver has. */
  readonly nextSecret?: string | undefined;
  /** Any receiver of Standard Webhooks: without what is special about Deedwire. */
  readonly isStandard?: boolean;
  readonly type?: string;
  readonly version?: string | undefined;
  /** How many effects the receiver has had until now. */
  readonly count?: (() => Promise<number>) | undefined;
}

/**
 * - `fail`: deliveries are lost, or requests of others have effects.
 * - `warning`: it works, and costs something.
 * - `unproven`: what was seen is right, and not enough to be sure.
 */
export type Result = 'fail' | 'pass' | 'skipped' | 'unproven' | 'warning';

export interface Verdict {
  readonly result: Result;
  readonly detail: string;
  readonly fix?: string;
}

interface Request extends Partial<Signing> {
  /** What is signed. Defaults to a new event. */
  readonly body?: string;
  /** What is sent in its place. */
  readonly sentBody?: string;
  readonly parts?: number;
  readonly headers?: (signed: OutgoingHttpHeaders) => OutgoingHttpHeaders;
  readonly method?: string | undefined;
  readonly agent?: Agent | undefined;
}

type RequestsOf = (event: EventBody, options: GradeOptions) => readonly Request[];

export class Grading {
  readonly options: GradeOptions;
  /** Whether it acknowledges events that Deedwire sends. */
  acceptsEvents = true;

  constructor(options: GradeOptions) {
    this.options = options;
  }

  event(): EventBody {
    const { type = 'referral.created', version, isStandard = false } = this.options;
    // Any receiver may check what Standard Webhooks say about a body: its type, time and data.
    return isStandard
      ? { ...sampleEvent('webhook.test'), type: this.options.type ?? 'webhook.test' }
      : sampleEvent(type, version);
  }

  send(request: Request = {}): Promise<Answer> {
    const { secret, isStandard = false, count } = this.options;
    const event = this.event();
    const { body = JSON.stringify(event), sentBody = body, parts = 1, headers = (signed) => signed, ...more } = request;
    const signing = { secret, isStandard, isTest: count === undefined, ...more };
    const signed = deliveryHeaders(Buffer.from(body), signing, event);
    const bytes = Buffer.from(sentBody);
    const size = Math.ceil(bytes.length / parts) || 1;
    const chunks = Array.from({ length: parts }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    const { method, agent } = request;
    return send(this.options, { method, headers: headers(signed), body: method === 'GET' ? [] : chunks, agent });
  }

  async sendAll(requestsOf: RequestsOf): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const request of requestsOf(this.event(), this.options)) answers.push(await this.send(request));
    return answers;
  }
}

export interface Check {
  readonly name: string;
  /** Left out with `--standard`. */
  readonly isOfDeedwire?: boolean;
  /** Says nothing about a receiver that refuses every event. */
  readonly needsAcceptance?: boolean;
  run(grading: Grading): Promise<Verdict>;
}

const isAccepted = ({ status }: Answer): boolean => status !== null && status >= 200 && status < 300;
const isBetween = (status: number | null, from: number, to: number): boolean =>
  status !== null && status >= from && status < to;
const seen = ({ status, problem }: Answer): string => (status === null ? problem : String(status));
const fail = (detail: string, fix: string): Verdict => ({ result: 'fail', detail, fix });

function accepts(answers: readonly Answer[], what: string, fix: string): Verdict {
  const refused = answers.find((answer) => !isAccepted(answer));
  if (refused !== undefined) return fail(`${seen(refused)} for ${what}`, fix);
  const slowestMs = Math.max(...answers.map(({ durationMs }) => durationMs));
  return { result: 'pass', detail: `${answers.map(seen).join(', ')} in ${slowestMs} ms` };
}

type Traits = Pick<Check, 'isOfDeedwire' | 'needsAcceptance'>;

function check(name: string, traits: Traits, run: Check['run']): Check {
  return { name, ...traits, run };
}

const onAcceptance: Traits = { needsAcceptance: true };

/** A check whose requests the receiver has to acknowledge. */
function accepting(name: string, what: string, fix: string, requestsOf: RequestsOf): Check {
  return check(name, onAcceptance, async (grading) => accepts(await grading.sendAll(requestsOf), what, fix));
}

/** A check whose requests the receiver has to refuse. */
function refusing(name: string, what: string, fix: string, requestsOf: RequestsOf): Check {
  return check(name, {}, async (grading) => {
    const answers = await grading.sendAll(requestsOf);
    const wrong = answers.filter(({ status }) => !isBetween(status, 400, 500));
    const accepted = wrong.find(({ status }) => !isBetween(status, 500, 600));
    if (accepted !== undefined) return fail(`${seen(accepted)} for ${what}`, fix);
    const [error] = wrong;
    return error === undefined
      ? { result: 'pass', detail: answers.map(seen).join(', ') }
      : { result: 'warning', detail: `${seen(error)} for ${what}`, fix: 'Respond 401: this is no error of yours.' };
  });
}

/** Requests with what a later release of Deedwire can send. */
function unknown(name: string, what: string, change: Partial<EventBody>): Check {
  return check(name, { ...onAcceptance, isOfDeedwire: true }, async (grading) => {
    const answer = await grading.send({ body: JSON.stringify({ ...grading.event(), ...change }) });
    const fix = 'Acknowledge with 200 what you do not handle: Deedwire retries everything else for days.';
    if (answer.status !== 501) return accepts([answer], what, fix);
    return { result: 'warning', detail: `501 for ${what}: Deedwire retries it`, fix };
  });
}

const handshakeBody = (): string => JSON.stringify({ verification_token: `token-of-a-grading-${newNumber()}` });
const tamperedFix = 'Verify the signature over the bytes that you then parse.';
const secretFix = 'Compute the HMAC with your secret, and compare all of it.';
const unsignedFix = 'Refuse requests that have no signature, also handshakes.';
const clockFix = 'Refuse timestamps more than 300 s from your clock, in both directions.';
const rotatedFix =
  'Accept the request if any of its v1 signatures matches, and X-Service-Webhook-Signature-Next like the other one.';
const fieldFix = 'Ignore fields that you do not know: a released version can grow.';
const rawFix = 'Verify the bytes of the body as they arrive, before any parser.';
const largeFix = 'Allow bodies of 300 kB, also in proxies and body parsers.';
const caseFix = 'Compare the names of headers without their case: proxies change it.';

export const checks: readonly Check[] = [
  check('redirect', {}, async (grading) => {
    let answer = await grading.send();
    // It may be starting.
    for (let attempt = 0; attempt < 10 && answer.code === 'ECONNREFUSED'; attempt += 1) {
      await sleep(300);
      answer = await grading.send();
    }
    const { status, problem, location } = answer;
    if (status === null) return fail(problem, 'Start the receiver, and check the port and the path.');
    if (!isBetween(status, 300, 400)) return { result: 'pass', detail: 'none' };
    const fix = `Subscribe with the URL to which it redirects${location && `, ${location}`}.`;
    return fail(`${status}: Deedwire follows no redirect`, fix);
  }),
  check('handshake', { isOfDeedwire: true }, async (grading) => {
    const fix = 'Return the JSON {"verification_token": "…"} with the token of the request, and no other key.';
    for (const body of [handshakeBody(), handshakeBody()]) {
      const answer = await grading.send({ body, headers: withoutEvent });
      if (!isAccepted(answer)) return fail(`${seen(answer)} for a handshake`, fix);
      if (JSON.stringify(parsedJson(answer.body)) !== body) return fail('it does not return the token', fix);
    }
    return { result: 'pass', detail: 'two tokens returned' };
  }),
  check('valid', {}, async (grading) => {
    const answer = await grading.send();
    grading.acceptsEvents = isAccepted(answer);
    const fix =
      answer.status === 401
        ? 'Give the receiver and this command the same secret. The command verify says what differs.'
        : 'Respond with 2xx within 5 seconds, after your work is committed.';
    return accepts([answer], 'an event', fix);
  }),
  refusing('tampered', 'a body that was changed', tamperedFix, (event) => {
    const body = JSON.stringify(event);
    return [{ body, sentBody: body.replace(/\d(?=\D*$)/, (digit) => `${9 - Number(digit)}`) }];
  }),
  refusing('other-secret', 'a signature that is wrong, or in part', secretFix, () => [
    { secret: generateWebhookSecret() },
    { headers: withSignature((right) => right.slice(0, 8)) },
    { headers: withSignature((right) => right.slice(0, 8) + right.slice(9, -4) + right.charAt(8) + right.slice(-4)) },
  ]),
  refusing('unsigned', 'a request without a signature', unsignedFix, () => [
    { headers: unsigned },
    { headers: withSignature(() => '') },
    { headers: unsigned, body: handshakeBody() },
  ]),
  refusing('stale', 'a request signed 10 minutes ago', clockFix, () => [{ ageSeconds: 600 }]),
  refusing('future', 'a request signed 10 minutes ahead', clockFix, () => [{ ageSeconds: -600 }]),
  check('repeated', onAcceptance, repeated),
  accepting('rotated', 'a request with two signatures, one of them right', rotatedFix, (_, { secret }) => {
    const other = generateWebhookSecret();
    return [{ nextSecret: other }, { secret: other, nextSecret: secret }];
  }),
  check('rotated-new', onAcceptance, async (grading) => {
    const { nextSecret } = grading.options;
    if (nextSecret === undefined)
      return { result: 'skipped', detail: 'pass a second secret, which the receiver has too' };
    const fix = 'Try each secret that you have: during a rotation, the old and the new one.';
    return accepts([await grading.send({ secret: nextSecret })], 'a signature of the second secret', fix);
  }),
  unknown('unknown-event', 'an event type that does not exist yet', { type: 'matter.archived' }),
  unknown('unknown-version', 'a version that does not exist yet', { version: '2099-01-01' }),
  accepting('unknown-field', 'an event with further fields', fieldFix, (event) => [
    { body: JSON.stringify({ ...withField(event, true), addedLater: { a: [1] } }) },
  ]),
  accepting('escaped', 'JSON with escapes', rawFix, (event) => {
    const body = JSON.stringify(event).replaceAll('/', String.raw`\/`);
    return [{ body: body.replace('data', String.raw`d\u0061ta`) }];
  }),
  accepting('spaced', 'JSON with spaces', rawFix, (event) => [{ body: `${JSON.stringify(event, null, 3)}\n` }]),
  accepting('large', 'a body of 256 kB', largeFix, (event) => {
    const bytes = Buffer.byteLength(JSON.stringify(withField(event, '')));
    return [{ body: JSON.stringify(withField(event, 'x'.repeat(256_000 - bytes))) }];
  }),
  accepting('slow-sending', 'a body in 8 parts', 'Read the body until it ends, not once.', () => [{ parts: 8 }]),
  accepting('header-case', 'header names in capitals', caseFix, () => [{ headers: inCapitals }]),
  check('header-repeats', onAcceptance, async (grading) => {
    const id = newDeliveryId();
    const withIds = (...ids: string[]) => ({
      id,
      headers: (signed: OutgoingHttpHeaders) => ({ ...signed, 'webhook-id': ids }),
    });
    const sent = await grading.sendAll(() => [withIds(id, newDeliveryId()), withIds(newDeliveryId(), id)]);
    const broken = sent.find(({ status }) => !isBetween(status, 200, 500));
    if (broken !== undefined) return fail(`${seen(broken)} for two webhook-id headers`, 'Respond 401.');
    if (!sent.every(isAccepted)) return { result: 'pass', detail: sent.map(seen).join(', ') };
    const fix = 'Refuse a request that has a signed header twice: its sender chooses which id you remember.';
    return fail('it accepts an id that is not signed beside the signed one', fix);
  }),
  check('kept-connection', onAcceptance, async (grading) => {
    const agent = agentOf(grading.options, true);
    try {
      await grading.send({ agent, headers: unsigned });
      const answer = await grading.send({ agent });
      // It may close the connection, also while the next request is sent.
      const again = answer.status === null ? await grading.send({ agent }) : answer;
      const fix = 'Read the body of a request that you refuse, or close the connection.';
      return accepts([again], 'an event after a refused request on one connection', fix);
    } finally {
      agent.destroy();
    }
  }),
  check('get', {}, async (grading) => {
    const answer = await grading.send({ method: 'GET' });
    const [detail, fix] = [`${seen(answer)} for GET`, 'Respond 405 to every other method than POST.'];
    if (isBetween(answer.status, 400, 500) || answer.status === 501) return { result: 'pass', detail: seen(answer) };
    return isBetween(answer.status, 200, 400) ? { result: 'warning', detail, fix } : fail(detail, fix);
  }),
];

const repeatsFix =
  'Commit the webhook-id with your changes, in one transaction and under a unique constraint. Acknowledge a repeat with 200.';
const atOnce = 16;

const isBusy = ({ status }: Answer): boolean => status === 409 || status === 429 || status === 503;

async function repeated(grading: Grading): Promise<Verdict> {
  const { count } = grading.options;
  const before = (await count?.()) ?? 0;
  const inTurn = { id: newDeliveryId(), body: JSON.stringify(grading.event()) };
  const answers = [await grading.send(inTurn), await grading.send(inTurn)];
  const refused = answers.find((answer) => !isAccepted(answer));
  if (refused !== undefined) return fail(`${seen(refused)} for a repeat`, repeatsFix);
  const parallel = { id: newDeliveryId(), body: JSON.stringify(grading.event()) };
  const sent = await Promise.all(Array.from({ length: atOnce }, () => grading.send(parallel)));
  // What is being processed may be refused: it is sent again later.
  const broken = sent.find((answer) => !isAccepted(answer) && !isBusy(answer));
  if (broken !== undefined) return fail(`${seen(broken)} for ${atOnce} at once`, repeatsFix);
  const detail = `${sent.filter(isAccepted).length} of ${atOnce} at once accepted`;
  if (!sent.some(isAccepted)) return fail(detail, repeatsFix);
  if (count === undefined)
    return { result: 'unproven', detail: `${detail}; add -- <command that prints how many effects there are>` };
  // Two events, one effect each. A job may need a moment, and a second effect would come later.
  for (let round = 0; round < 20 && (await count()) - before < 2; round += 1) await sleep(250);
  await sleep(500);
  const effects = (await count()) - before;
  if (effects === 2) return { result: 'pass', detail: `${detail}, one effect for each event` };
  const typeFix = 'Pass --type with an event type whose handler the command counts.';
  return fail(`${effects} effects of 2 events`, effects > 2 ? repeatsFix : typeFix);
}

function withField(event: EventBody, addedLater: unknown): EventBody {
  return { ...event, data: { ...event.data, addedLater } };
}

type Header = [name: string, value: OutgoingHttpHeaders[string]];

const changing =
  (change: (header: Header) => Header[]) =>
  (signed: OutgoingHttpHeaders): OutgoingHttpHeaders =>
    Object.fromEntries(Object.entries(signed).flatMap((header) => change(header)));
const without = (names: RegExp) => changing((header) => (names.test(header[0]) ? [] : [header]));

const unsigned = without(/^webhook-|-signature|-timestamp/);
const withoutEvent = without(/^x-.*-(?:event|event-version|sequence|attempt|subscription-id|test)$/);
const inCapitals = changing(([name, value]) => [[name.toUpperCase(), value]]);
/** Keeps the version that precedes a signature of Standard Webhooks. */
const withSignature = (change: (right: string) => string) =>
  changing(([name, value]) => [[name, name.endsWith('-signature') ? String(value).replace(/[^,]+$/, change) : value]]);
