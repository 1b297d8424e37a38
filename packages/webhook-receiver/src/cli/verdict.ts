import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { describeInterceptor } from './diagnosis.ts';
import { type Grading, isAccepted, type Reply, type Request } from './grading.ts';
import { isOfParser } from './send.ts';
import { excerpt } from './text.ts';

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

export const seen = ({ status, problem }: Reply): string => (status === null ? problem : String(status));

export const fail = (detail: string, fix: string): Verdict => ({ result: 'fail', detail, fix });

/** The failure of a check whose request was refused. Quotes the response, which can say more than its status. */
export function refused(reply: Reply, what: string, fix: string): Verdict {
  const { interceptor, headerAdvice, quote } = reply;
  const quoted = quote === '' ? '' : `: "${excerpt(quote, 200)}"`;
  const detail = `${seen(reply)} for ${what}${quoted}`;
  if (interceptor === null) return fail(detail, fix);
  return fail(detail, `${describeInterceptor(interceptor)}${headerAdvice === null ? '' : ` ${headerAdvice}`}`);
}

export function accepts(replies: readonly Reply[], what: string, fix: string): Verdict {
  const other = replies.find((reply) => !isAccepted(reply));
  if (other !== undefined) return refused(other, what, fix);
  const slowestMs = Math.max(...replies.map(({ durationMs }) => durationMs));
  return { result: 'pass', detail: `${replies.map(seen).join(', ')} in ${slowestMs} ms` };
}

const bytesFix = 'Verify the bytes as received: do not decode or join them as text first.';

/** The verdict on a body with characters outside ASCII. The same one in ASCII shows whether they are why it is refused. */
export async function acceptsText(
  grading: Grading,
  [what, fix]: readonly [what: string, fix: string],
  toRequest: (body: string) => Request,
): Promise<Verdict> {
  const body = textBody(grading);
  const reply = await grading.send(toRequest(body));
  if (isAccepted(reply)) return accepts([reply], what, fix);
  return refused(reply, what, (await acceptsInAscii(grading, toRequest, body)) ? bytesFix : fix);
}

/** An event with characters of two, three and four bytes where its sample has characters outside ASCII: in a free text. */
function textBody(grading: Grading): string {
  return JSON.stringify(grading.event()).replace(/[^ -~]+/u, '$&é🏡\u2028');
}

async function acceptsInAscii(grading: Grading, toRequest: (body: string) => Request, body: string): Promise<boolean> {
  const inAscii = body.replaceAll(/[^ -~]/gu, '?');
  return inAscii !== body && isAccepted(await grading.send(toRequest(inAscii)));
}

/** The verdict on a plain event. */
export async function acceptsEvent(grading: Grading): Promise<Verdict> {
  const body = textBody(grading);
  const reply = await grading.send({ body });
  if (isAccepted(reply)) return accepts([reply], 'an event', '');
  return refused(reply, 'an event', reply.interceptor === null ? await fixOf(grading, reply, body) : '');
}

/** @param right response */
export function unansweredFix({ timeoutSeconds }: Grading, { code }: Reply, status = '2xx'): string {
  const end = status === '2xx' ? ', after your work is committed' : '';
  const right = `${status} within ${timeoutSeconds} seconds${end}`;
  if (code === 'TIMEOUT') return `Respond with ${right}.`;
  if (isOfParser(code))
    return 'Correct the response. A proxy or firewall can be what changes its headers; or the port belongs to no HTTP server.';
  if (/CERT|SSL|TLS|EPROTO/.test(code))
    return 'Check that the port expects TLS, and that its certificate is valid for this host name and trusted here (NODE_EXTRA_CA_CERTS).';
  return /^(?:E[A-Z]+UNREACH|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/.test(code)
    ? 'Start the receiver, and check the port and the path.'
    : `See in the log of the receiver why its response is not complete. Respond with ${right}.`;
}

/** Blames the secret only if no other request proves that the receiver has it. */
export async function fixOf(grading: Grading, reply: Reply, body: string): Promise<string> {
  const { status } = reply;
  if (status === null) return unansweredFix(grading, reply);
  if (status < 400 || status >= 500)
    return 'See the log of the receiver. Respond with 2xx after your work is committed.';
  if (await acceptsInAscii(grading, (each) => ({ body: each }), body)) return bytesFix;
  if (isAccepted(await grading.send({ body, isChunked: true })))
    return 'The secret is right: the same event is accepted if it is chunked. Read as many bytes as Content-Length says.';
  if (await verifiesFixedBodies(grading))
    return 'The secret is right: the signature of an empty body or of {} verifies. Verify the bytes as received, and check which proxy or middleware compresses, serializes or chunks the body again. The command verify says what differs.';
  const advice = ofStatus[status] ?? refusedFix;
  if (reply.headerAdvice === null) return advice;
  return `${reply.headerAdvice} Otherwise, ${advice.charAt(0).toLowerCase()}${advice.slice(1)}`;
}

const ofStatus: Readonly<Record<number, string>> = {
  401: 'The receiver and this command have different secrets; or a proxy or middleware changes the body (compresses or serializes it again) or removes headers. The command verify says which, from a captured request.',
  404: 'Check the path of the URL: the receiver responds that it has no such path.',
  407: 'A proxy asks for its own login, which no header of a subscription can contain. Let requests to this path through without it.',
};
const refusedFix =
  'See in the log of the receiver why it refuses the request. If its signature does not verify, the command verify says why.';

/** Whether it responds to bodies that hardly any proxy changes otherwise if they are signed with another secret. */
async function verifiesFixedBodies(grading: Grading): Promise<boolean> {
  for (const body of ['', '{}']) {
    const signed = await grading.send({ body });
    const forged = await grading.send({ body, secret: generateWebhookSecret() });
    if (forged.status === 401 && signed.status !== null && signed.status !== 401) return true;
  }
  return false;
}
