import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { type EventBody, newDeliveryId, newNumber } from './delivery.ts';
import { type Grading, isAccepted, isBetween, type Reply, type RequestsOf } from './grading.ts';
import { agentOf, defaultTimeoutMs } from './send.ts';
import { parsedJson } from './text.ts';
import { timeoutMaxSeconds } from './timeout-option.ts';
import {
  accepts,
  acceptsEvent,
  acceptsText,
  fail,
  fixOf,
  refused,
  seen,
  unansweredFix,
  type Verdict,
} from './verdict.ts';

export interface Check {
  readonly name: string;
  /** Left out with `--standard`. */
  readonly isOfDeedwire?: boolean;
  /** Says nothing about a receiver that refuses every event. */
  readonly needsAcceptance?: boolean;
  run(grading: Grading): Promise<Verdict>;
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
  return check(name, onAcceptance, async (grading) => {
    const answers = await grading.sendAll(requestsOf);
    const accepted = answers.find(({ status }) => isBetween(status, 200, 400));
    if (accepted !== undefined) return fail(`${seen(accepted)} for ${what}`, fix);
    const unanswered = answers.find(({ status }) => status === null);
    if (unanswered !== undefined)
      return fail(`${seen(unanswered)} for ${what}`, unansweredFix(grading, unanswered, '401'));
    const error = answers.find(({ status }) => !isBetween(status, 400, 500));
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
const unsignedFix = 'Refuse requests that have no signature, including handshakes.';
const clockFix = 'Refuse timestamps more than 300 s from your clock, in both directions.';
const rotatedFix =
  'Accept the request if any of its v1 signatures matches, and a header with -Webhook-Signature-Next like the other one.';
const fieldFix = 'Ignore fields that you do not know: a released version can grow.';
const rawFix = 'Verify the bytes of the body as they arrive, before any parser.';
const largeFix = 'Allow bodies of 300 kB, including in proxies and body parsers.';
const caseFix = 'Compare the names of headers without their case: proxies change it.';

/** Whether a longer timeout can help: three requests in a row time out on connections that stay open. */
async function needsLonger(grading: Grading, first: Reply): Promise<boolean> {
  if (grading.timeoutSeconds >= timeoutMaxSeconds) return false;
  let answer = first;
  for (let sent = 1; sent < 3 && isTimeout(answer); sent += 1) answer = await grading.send();
  return isTimeout(answer);
}

const isTimeout = ({ code, isConnected }: Reply): boolean => code === 'TIMEOUT' && isConnected;

const longerFix = ` If it cannot, raise timeoutSeconds of the subscription, up to ${timeoutMaxSeconds}, and pass --timeout.`;

export const checks: readonly Check[] = [
  check('redirect', {}, async (grading) => {
    let answer = await grading.send();
    // It may be starting.
    for (let attempt = 0; attempt < 10 && answer.code === 'ECONNREFUSED'; attempt += 1) {
      await sleep(300);
      answer = await grading.send();
    }
    const { status, problem, headers } = answer;
    if (status === null)
      return fail(problem, `${unansweredFix(grading, answer)}${(await needsLonger(grading, answer)) ? longerFix : ''}`);
    if (!isBetween(status, 300, 400)) return { result: 'pass', detail: 'none' };
    const { location = '' } = headers;
    const quote = grading.redacted(location);
    const { url } = grading.options;
    const target = quote === location && URL.canParse(location, url) ? `, ${new URL(location, url).href}` : '';
    const fix = `Subscribe with the URL to which it redirects${target}.`;
    return refused({ ...answer, quote }, 'an event, and Deedwire follows no redirect', fix);
  }),
  check('handshake', { isOfDeedwire: true }, async (grading) => {
    const fix = 'Respond with 2xx and the JSON of the request, {"verification_token": "…"}, with no other key.';
    for (const body of [handshakeBody(), handshakeBody()]) {
      // A longer timeout of the subscription does not apply.
      const timeoutMs = Math.min(grading.timeoutSeconds * 1_000, defaultTimeoutMs);
      const answer = await grading.send({ body, headers: withoutEvent, timeoutMs });
      if (answer.status === null && grading.timeoutSeconds * 1_000 > defaultTimeoutMs)
        return fail(
          answer.problem,
          'Respond to a handshake within 5 seconds: its time does not depend on timeoutSeconds.',
        );
      if (!isAccepted(answer)) {
        const isOfHandshake = isAccepted(await grading.send());
        return refused(answer, 'a handshake', isOfHandshake ? fix : await fixOf(grading, answer, body));
      }
      if (JSON.stringify(parsedJson(answer.body)) !== body) return fail('it does not return the token', fix);
    }
    return { result: 'pass', detail: 'two tokens returned' };
  }),
  check('valid', {}, acceptsEvent),
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
  unknown('unknown-event', 'an event type that does not exist yet', { type: 'record.archived' }),
  unknown('unknown-version', 'a version that does not exist yet', { version: '2099-01-01' }),
  accepting('unknown-field', 'an event with further fields', fieldFix, (event) => [
    { body: JSON.stringify({ ...withField(event, true), addedLater: { a: [1] } }) },
  ]),
  accepting('escaped', 'JSON with escapes', rawFix, (event) => {
    const body = JSON.stringify(event).replaceAll('/', String.raw`\/`);
    return [{ body: body.replace('data', String.raw`d\u0061ta`) }];
  }),
  accepting('spaced', 'JSON with spaces', rawFix, (event) => [{ body: `${JSON.stringify(event, null, 3)}\n` }]),
  check('large', onAcceptance, (grading) =>
    acceptsText(grading, ['a body of 256 kB', largeFix], (body) => {
      const event: EventBody = JSON.parse(body);
      const bytes = Buffer.byteLength(JSON.stringify(withField(event, '')));
      return { body: JSON.stringify(withField(event, 'x'.repeat(256_000 - bytes))) };
    }),
  ),
  check('slow-sending', onAcceptance, (grading) =>
    acceptsText(grading, ['a body in several parts', 'Read the body until it ends, not once.'], (body) => ({
      body,
      cuts: slowCuts,
    })),
  ),
  check('chunked', onAcceptance, async (grading) => {
    const answer = await grading.send({ isChunked: true, cuts: (bytes) => [Math.floor(bytes.length / 2)] });
    const what = 'a body with Transfer-Encoding: chunked';
    const fix = 'Decode chunks: Deedwire sends a Content-Length, but a proxy in front of the receiver can replace it.';
    const verdict = accepts([answer], what, fix);
    return answer.status === 411 ? { ...verdict, result: 'warning' } : verdict;
  }),
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
      // It may close the connection, even while the next request is sent.
      const again = answer.status === null ? await grading.send({ agent }) : answer;
      const fix = 'Read the body of a request that you refuse, or close the connection.';
      return accepts([again], 'an event after a refused request on one connection', fix);
    } finally {
      agent.destroy();
    }
  }),
  check('get', onAcceptance, async (grading) => {
    const answer = await grading.send({ method: 'GET' });
    const [detail, fix] = [`${seen(answer)} for GET`, 'Respond 405 to every other method than POST.'];
    if (isBetween(answer.status, 400, 500) || answer.status === 501) return { result: 'pass', detail: seen(answer) };
    return isBetween(answer.status, 200, 400) ? { result: 'warning', detail, fix } : fail(detail, fix);
  }),
];

const repeatsFix =
  'Commit the webhook-id with your changes, in one transaction and under a unique constraint. Acknowledge a repeat with 200.';
const atOnce = 16;

const isBusy = ({ status }: Reply): boolean => status === 409 || status === 429 || status === 503;

async function repeated(grading: Grading): Promise<Verdict> {
  const { count } = grading.options;
  const before = (await count?.()) ?? 0;
  const inTurn = { id: newDeliveryId(), body: JSON.stringify(grading.event()) };
  const answers = [await grading.send(inTurn), await grading.send(inTurn)];
  const other = answers.find((answer) => !isAccepted(answer));
  if (other !== undefined) return refused(other, 'a repeat', repeatsFix);
  const parallel = { id: newDeliveryId(), body: JSON.stringify(grading.event()) };
  const sent = await Promise.all(Array.from({ length: atOnce }, () => grading.send(parallel)));
  // What is being processed may be refused: it is sent again later.
  const broken = sent.find((answer) => !isAccepted(answer) && !isBusy(answer));
  if (broken !== undefined) return refused(broken, `${atOnce} at once`, repeatsFix);
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

/** Cuts at quarters, and inside of each character outside ASCII. */
function slowCuts(bytes: Buffer): number[] {
  const quarter = Math.ceil(bytes.length / 4);
  return Array.from(bytes.keys())
    .slice(1)
    .filter((index) => index % quarter === 0 || (bytes[index - 1] ?? 0) >= 0xc0);
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
