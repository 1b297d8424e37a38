import { createHash, timingSafeEqual } from 'node:crypto';
import type { AttemptError, HostProblem } from './attempt-error.ts';
import type { ReceivedResponse } from './call.ts';
import type { HeaderMask } from './header-mask.ts';
import { describeInterceptor, interceptorOf } from './interceptor.ts';

export const handshakeErrorCodes = [
  'CALLBACK_URL_FORBIDDEN',
  'CALLBACK_URL_INVALID',
  'VERIFICATION_MISMATCH',
  'VERIFICATION_REDIRECT',
  'VERIFICATION_STATUS',
  'VERIFICATION_TIMEOUT',
  'VERIFICATION_UNREACHABLE',
] as const;

export type HandshakeErrorCode = (typeof handshakeErrorCodes)[number];

export interface FailedHandshake {
  verified: false;
  code: HandshakeErrorCode;
  /** Shown to the owner of the receiver: the problem, the remedy and the response. It contains no secret. */
  message: string;
  /** For the log of the operator. Omitted unless the host name could not be called. */
  hostProblem?: HostProblem;
}

export type HandshakeResult = { verified: true } | FailedHandshake;

export interface HandshakeSecrets {
  readonly token: string;
  readonly secret: string;
  readonly nextSecret?: string | undefined;
  /** Omitted if the request has no secret header. */
  readonly mask?: HeaderMask | undefined;
  /** Who reads the message may not see contents of responses. */
  readonly hidesResponse?: boolean | undefined;
}

const hidden = 'To see the response, use a key or a session with the ability READ_PAYLOAD.';

const remedy = 'Respond with the JSON object of the request, {"verification_token":"…"}.';

/**
 * Checks that the response echoes the token, which proves that the owner of the receiver agrees to receive webhooks.
 *
 * @param url the callback URL
 */
export function classifyResponse(response: ReceivedResponse, secrets: HandshakeSecrets, url: URL): HandshakeResult {
  const { status, headers } = response;
  const location = headers.get('location');
  const advice = interceptorAdvice(response, url);
  if (status >= 300 && status < 400) {
    const where = location === undefined ? 'no Location' : named('Location', location, secrets);
    return failed(
      'VERIFICATION_REDIRECT',
      `The callback URL returned a redirect with status ${status} and ${where}. ${advice ?? 'Redirects are not followed. Register the final URL.'}`,
    );
  }
  if (status < 200 || status >= 300) {
    return failed(
      'VERIFICATION_STATUS',
      `The callback URL returned status ${status}. ${advice ?? 'Respond to the handshake with a 2xx status.'} ${received(response, secrets)}`,
    );
  }
  const mismatch = bodyProblem(response, secrets);
  if (mismatch === null) return { verified: true };
  const problem = advice === null ? `, but ${mismatch}` : `. ${advice} ${received(response, secrets)}`;
  return failed('VERIFICATION_MISMATCH', `The callback URL returned status ${status}${problem}`);
}

/** Null unless the response shows that something other than the receiver sent it. */
function interceptorAdvice({ status, headers, body }: ReceivedResponse, url: URL): string | null {
  const header = (name: string): string | null => headers.get(name) ?? null;
  const interceptor = interceptorOf(url, { status, header, body: body.toString() });
  return interceptor === null ? null : describeInterceptor(interceptor);
}

/** Maps the error of an attempt without a complete response. */
export function classifyFailure(error: AttemptError, timeoutMs: number): HandshakeResult {
  const result = failureResult(error, timeoutMs);
  return error.hostProblem === null ? result : { ...result, hostProblem: error.hostProblem };
}

function failureResult(error: AttemptError, timeoutMs: number): FailedHandshake {
  if (error.code === 'URL_FORBIDDEN') return failed('CALLBACK_URL_FORBIDDEN', error.message);
  if (error.code === 'TIMEOUT') {
    return failed(
      'VERIFICATION_TIMEOUT',
      `The callback URL did not send a complete response within ${timeoutMs / 1000} s. ${error.message}`,
    );
  }
  return failed('VERIFICATION_UNREACHABLE', error.message);
}

function bodyProblem(response: ReceivedResponse, secrets: HandshakeSecrets): string | null {
  const { body, bodyBytes, headers } = response;
  const encoding = headers.get('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return `the body has ${named('Content-Encoding', encoding, secrets)}. Send it unencoded, as "Accept-Encoding: identity" requires.`;
  }
  const details = `${remedy} ${received(response, secrets)}`;
  if (bodyBytes > body.length) return `the body is longer than ${body.length / 1024} kB. ${details}`;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return `the body is not JSON. ${details}`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `the body is not a JSON object. ${details}`;
  }
  if (!('verification_token' in value)) return `the JSON object has no verification_token key. ${details}`;
  const { verification_token: echoed } = value;
  if (typeof echoed !== 'string') return `the value of verification_token is not a string. ${remedy}`;
  return sameToken(echoed, secrets.token)
    ? null
    : `the value of verification_token differs from the token in the request. ${remedy}`;
}

/** Compares in constant time. The values are hashed because timingSafeEqual requires equal lengths. */
function sameToken(echoed: string, token: string): boolean {
  return timingSafeEqual(sha256(echoed), sha256(token));
}

function sha256(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}

function received({ body, bodyBytes, headers }: ReceivedResponse, secrets: HandshakeSecrets): string {
  if (secrets.hidesResponse) return hidden;
  const type = headers.get('content-type');
  const isCut = bodyBytes > body.length;
  const shown = secrets.mask?.body(body, { isCut, encoding: headers.get('content-encoding') }) ?? body;
  const start =
    body.length === 0 ? 'an empty body' : `a body that starts with "${redacted(shown.toString('utf8'), secrets)}"`;
  return `The response has ${type === undefined ? 'no Content-Type' : named('Content-Type', type, secrets)} and ${start}.`;
}

/** A header with its value, or without it. */
function named(name: string, value: string, secrets: HandshakeSecrets): string {
  return secrets.hidesResponse ? `a ${name}` : `${name} ${redacted(secrets.mask?.value(value) ?? value, secrets)}`;
}

function redacted(text: string, { token, secret, nextSecret }: HandshakeSecrets): string {
  const secrets = nextSecret === undefined ? {} : { 'the new secret': nextSecret };
  return excerpt(text, { 'the token': token, 'the secret': secret, ...secrets });
}

function failed(code: HandshakeErrorCode, message: string): FailedHandshake {
  return { verified: false, code, message };
}

const maxCharacters = 200;

/**
 * Returns the beginning of untrusted text for use in a message. Runs of white space become one space, and characters
 * other than printable ASCII become `?`. Each value of `redact` is replaced by its key in brackets.
 */
export function excerpt(text: string, redact: Readonly<Record<string, string>> = {}): string {
  let shown = text;
  for (const [label, secret] of Object.entries(redact)) shown = shown.replaceAll(secret, `[${label}]`);
  const characters = shown
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^ -~]/g, '?');
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters)}…` : characters;
}
