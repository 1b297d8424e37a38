import { Agent, type OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { deliveryHeaders, type EventBody, newDeliveryId, newNumber, sampleEvent, type Signing } from './delivery.ts';
import { type Answer, send } from './send.ts';
import { parsedJson } from './text.ts';

/** What is graded, and how. */
export interface GradeOptions {
  readonly url: URL;
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
  /** What was seen. */
  readonly detail: string;
  /** What to change. Undefined if nothing. */
  readonly fix?: string;
}

interface Request extends Partial<Signing> {
  /** What is signed. Defaults to a new event. */
  readonly body?: string;
  /** What is sent in its place. */
  readonly sentBody?: string;
  readonly parts?: number;
  readonly headers?: (signed: OutgoingHttpHeaders) => OutgoingHttpHeaders;
  readonly method?: string;
  readonly agent?: Agent;
}

/** The requests to one receiver. */
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
    const { url, secret, isStandard = false, count } = this.options;
    const event = this.event();
    const { body = JSON.stringify(event), sentBody = body, parts = 1, headers = (signed) => signed, ...more } = request;
    const signing = { secret, isStandard, isTest: count === undefined, ...more };
    const signed = deliveryHeaders(Buffer.from(body), signing, event);
    const bytes = Buffer.from(sentBody);
    const size = Math.ceil(bytes.length / parts) || 1;
    const chunks = Array.from({ length: parts }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    const { method = 'POST', agent } = request;
    return send(url, {
      method,
      headers: headers(signed),
      body: method === 'GET' ? [] : chunks,
      ...(agent && { agent }),
    });
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
const seen = ({ status, problem }: Answer): string => (status === null ? problem : String(status));

function accepts(answers: readonly Answer[], what: string, fix: string): Verdict {
  const refused = answers.find((answer) => !isAccepted(answer));
  if (refused !== undefined) return { result: 'fail', detail: `${seen(refused)} for ${what}`, fix };
  const slowestMs = Math.max(...answers.map(({ durationMs }) => durationMs));
  return { result: 'pass', detail: `${answers.map(seen).join(', ')} in ${slowestMs} ms` };
}

function refuses(answer: Answer, what: string, fix: string): Verdict {
  const { status } = answer;
  if (status !== null && status >= 400 && status < 500) return { result: 'pass', detail: String(status) };
  if (status !== null && status >= 500)
    return {
      result: 'warning',
      detail: `${status} for ${what}`,
      fix: 'Respond 401, so that nobody looks for an error.',
    };
  return { result: 'fail', detail: `${seen(answer)} for ${what}`, fix };
}

const rawFix = 'Verify the bytes of the body as they arrive, before any parser.';
const envelopeFix = 'Acknowledge with 200 what you do not handle: Deedwire retries everything else for days.';

/** In this order. */
export const checks: readonly Check[] = [
  {
    name: 'redirect',
    async run(grading) {
      let answer = await grading.send();
      // It may be starting.
      for (let attempt = 0; attempt < 10 && answer.code === 'ECONNREFUSED'; attempt += 1) {
        await sleep(300);
        answer = await grading.send();
      }
      if (answer.status === null)
        return { result: 'fail', detail: answer.problem, fix: 'Start the receiver, and check the port and the path.' };
      if (answer.status < 300 || answer.status >= 400) return { result: 'pass', detail: 'none' };
      const fix = `Subscribe with the URL to which it redirects${answer.location && `, ${answer.location}`}.`;
      return { result: 'fail', detail: `${answer.status}: Deedwire follows no redirect`, fix };
    },
  },
  {
    name: 'handshake',
    isOfDeedwire: true,
    async run(grading) {
      const fix = 'Return the JSON {"verification_token": "…"} with the token of the request, and no other key.';
      for (const token of [1, 2].map(() => `token-of-a-grading-${newNumber()}`)) {
        const answer = await grading.send({
          body: JSON.stringify({ verification_token: token }),
          headers: withoutEvent,
        });
        if (!isAccepted(answer)) return { result: 'fail', detail: `${seen(answer)} for a handshake`, fix };
        if (!isToken(answer.body, token)) return { result: 'fail', detail: 'it does not return the token', fix };
      }
      return { result: 'pass', detail: 'two tokens returned' };
    },
  },
  {
    name: 'valid',
    async run(grading) {
      const answer = await grading.send();
      grading.acceptsEvents = isAccepted(answer);
      const fix =
        answer.status === 401
          ? 'Give the receiver and this command the same secret. The command verify says what differs.'
          : 'Respond with 2xx within 5 seconds, after your work is committed.';
      return accepts([answer], 'an event', fix);
    },
  },
  {
    name: 'tampered',
    async run(grading) {
      const body = JSON.stringify(grading.event());
      const answer = await grading.send({
        body,
        sentBody: body.replace(/\d(?=\D*$)/, (digit) => `${9 - Number(digit)}`),
      });
      return refuses(answer, 'a body that was changed', 'Verify the signature over the bytes that you then parse.');
    },
  },
  {
    name: 'other-secret',
    run: async (grading) =>
      refuses(
        await grading.send({ secret: generateWebhookSecret() }),
        'a signature of another secret',
        'Compute the HMAC with your secret, and compare all of it.',
      ),
  },
  {
    name: 'unsigned',
    run: async (grading) =>
      refuses(
        await grading.send({ headers: unsigned }),
        'a request without a signature',
        'Refuse requests that have no signature.',
      ),
  },
  {
    name: 'stale',
    run: async (grading) =>
      refuses(
        await grading.send({ ageSeconds: 600 }),
        'a request signed 10 minutes ago',
        'Refuse timestamps more than 300 s from your clock.',
      ),
  },
  {
    name: 'future',
    run: async (grading) =>
      refuses(
        await grading.send({ ageSeconds: -600 }),
        'a request signed 10 minutes ahead',
        'Refuse timestamps more than 300 s from your clock, also later ones.',
      ),
  },
  { name: 'repeated', needsAcceptance: true, run: repeated },
  {
    name: 'rotated',
    needsAcceptance: true,
    async run(grading) {
      const { secret } = grading.options;
      const other = generateWebhookSecret();
      return accepts(
        [await grading.send({ nextSecret: other }), await grading.send({ secret: other, nextSecret: secret })],
        'a request with two signatures, one of them right',
        'Accept the request if any of its v1 signatures matches, and X-Service-Webhook-Signature-Next like the other one.',
      );
    },
  },
  {
    name: 'rotated-new',
    needsAcceptance: true,
    async run(grading) {
      const { nextSecret } = grading.options;
      if (nextSecret === undefined)
        return { result: 'skipped', detail: 'pass a second secret, which the receiver has too' };
      const fix = 'Try each secret that you have: during a rotation, the old and the new one.';
      return accepts([await grading.send({ secret: nextSecret })], 'a signature of the second secret', fix);
    },
  },
  unknown('unknown-event', 'an event type that does not exist yet', (event) => ({ ...event, type: 'matter.archived' })),
  unknown('unknown-version', 'a version that does not exist yet', (event) => ({ ...event, version: '2099-01-01' })),
  {
    name: 'unknown-field',
    needsAcceptance: true,
    async run(grading) {
      const event = grading.event();
      const body = JSON.stringify({ ...event, data: { ...event.data, addedLater: true }, addedLater: { a: [1] } });
      const fix = 'Ignore fields that you do not know: a released version can grow.';
      return accepts([await grading.send({ body })], 'an event with a further field', fix);
    },
  },
  {
    name: 'escaped',
    needsAcceptance: true,
    async run(grading) {
      const text = JSON.stringify(grading.event());
      const body = text.replaceAll('/', String.raw`\/`).replace('data', String.raw`d\u0061ta`);
      return accepts([await grading.send({ body })], 'JSON with escapes', rawFix);
    },
  },
  {
    name: 'spaced',
    needsAcceptance: true,
    async run(grading) {
      const body = `${JSON.stringify(grading.event(), null, 3)}\n`;
      return accepts([await grading.send({ body })], 'JSON with white space', rawFix);
    },
  },
  {
    name: 'large',
    needsAcceptance: true,
    async run(grading) {
      const event = grading.event();
      const rest = JSON.stringify({ ...event, data: { ...event.data, addedLater: '' } });
      const addedLater = 'x'.repeat(256_000 - Buffer.byteLength(rest));
      const body = JSON.stringify({ ...event, data: { ...event.data, addedLater } });
      const fix = 'Allow bodies of 300 kB, also in proxies and body parsers.';
      return accepts([await grading.send({ body })], 'a body of 256 kB', fix);
    },
  },
  {
    name: 'slow-sending',
    needsAcceptance: true,
    run: async (grading) =>
      accepts([await grading.send({ parts: 8 })], 'a body in 8 parts', 'Read the body until it ends, not once.'),
  },
  {
    name: 'header-case',
    needsAcceptance: true,
    async run(grading) {
      return accepts(
        [await grading.send({ headers: inCapitals })],
        'header names in capitals',
        'Compare the names of headers without their case: proxies change it.',
      );
    },
  },
  {
    name: 'header-repeats',
    needsAcceptance: true,
    async run(grading) {
      const [id, other] = [newDeliveryId(), newDeliveryId()];
      const sent = [];
      for (const ids of [
        [id, other],
        [other, id],
      ])
        sent.push(await grading.send({ id, headers: (signed) => ({ ...signed, 'webhook-id': ids }) }));
      const broken = sent.find(({ status }) => status === null || status >= 500);
      if (broken !== undefined)
        return { result: 'fail', detail: `${seen(broken)} for two webhook-id headers`, fix: 'Respond 401.' };
      if (!sent.every(isAccepted)) return { result: 'pass', detail: sent.map(seen).join(', ') };
      const fix = 'Refuse a request that has a signed header twice: its sender chooses which id you remember.';
      return { result: 'fail', detail: 'it accepts an id that is not signed beside the signed one', fix };
    },
  },
  {
    name: 'kept-connection',
    needsAcceptance: true,
    async run(grading) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
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
    },
  },
  {
    name: 'get',
    async run(grading) {
      const answer = await grading.send({ method: 'GET' });
      const { status } = answer;
      if (status !== null && ((status >= 400 && status < 500) || status === 501))
        return { result: 'pass', detail: String(status) };
      if (status !== null && status < 400)
        return { result: 'warning', detail: `${status} for GET`, fix: 'Respond 405: only POST is a delivery.' };
      return { result: 'fail', detail: `${seen(answer)} for GET`, fix: 'Respond 405 to every other method.' };
    },
  },
];

function unknown(name: string, what: string, change: (event: EventBody) => EventBody): Check {
  return {
    name,
    isOfDeedwire: true,
    needsAcceptance: true,
    async run(grading) {
      const answer = await grading.send({ body: JSON.stringify(change(grading.event())) });
      if (answer.status !== 501) return accepts([answer], what, envelopeFix);
      return { result: 'warning', detail: `501 for ${what}: Deedwire retries it`, fix: envelopeFix };
    },
  };
}

const repeatsFix =
  'Commit the webhook-id with your changes, in one transaction and under a unique constraint. Acknowledge a repeat with 200.';
const atOnce = 16;

async function repeated(grading: Grading): Promise<Verdict> {
  const { count } = grading.options;
  const before = await count?.();
  const [id, idAtOnce] = [newDeliveryId(), newDeliveryId()];
  const body = JSON.stringify(grading.event());
  const inTurn = [await grading.send({ id, body }), await grading.send({ id, body })];
  const refused = inTurn.find((answer) => !isAccepted(answer));
  if (refused !== undefined) return { result: 'fail', detail: `${seen(refused)} for a repeat`, fix: repeatsFix };
  const other = JSON.stringify(grading.event());
  const answers = await Promise.all(Array.from({ length: atOnce }, () => grading.send({ id: idAtOnce, body: other })));
  // What is being processed may be refused: it is sent again later.
  const broken = answers.find(
    (answer) => !isAccepted(answer) && answer.status !== 409 && answer.status !== 429 && answer.status !== 503,
  );
  const detail = `${answers.filter(isAccepted).length} of ${atOnce} at once accepted`;
  if (broken !== undefined || !answers.some(isAccepted))
    return {
      result: 'fail',
      detail: `${seen(broken ?? answers[0] ?? refusedByNone)} for ${atOnce} at once`,
      fix: repeatsFix,
    };
  if (count === undefined || before === undefined)
    return { result: 'unproven', detail: `${detail}; add -- <command that prints how many effects there are>` };
  // Two events, one effect each. A job may need a moment, and a second effect would come later.
  let effects = 0;
  for (let round = 0; round < 20 && effects < 2; round += 1) {
    if (round > 0) await sleep(250);
    effects = (await count()) - before;
  }
  await sleep(500);
  effects = (await count()) - before;
  if (effects === 2) return { result: 'pass', detail: `${detail}, one effect for each event` };
  const seenEffects = `${effects} effects of 2 events`;
  return effects > 2
    ? { result: 'fail', detail: seenEffects, fix: repeatsFix }
    : { result: 'fail', detail: seenEffects, fix: 'Pass --type with an event type whose handler the command counts.' };
}

const refusedByNone: Answer = { status: null, problem: 'nothing', code: '', location: '', body: '', durationMs: 0 };

const unsigned = (signed: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(signed).filter(([name]) => !/^webhook-|-signature|-timestamp/.test(name)));

const inCapitals = (signed: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]));

const withoutEvent = (signed: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(signed).filter(
      ([name]) => !/^x-.*-(?:event|event-version|sequence|attempt|subscription-id|test)$/.test(name),
    ),
  );

function isToken(body: string, token: string): boolean {
  return JSON.stringify(parsedJson(body)) === JSON.stringify({ verification_token: token });
}
