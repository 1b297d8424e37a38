import { createHash, timingSafeEqual } from 'node:crypto';
import type { AttemptError } from './attempt-error.ts';
import { excerpt } from './excerpt.ts';
import type { Answer } from './exchange.ts';

export type HandshakeErrorCode =
  | 'CALLBACK_URL_FORBIDDEN'
  | 'CALLBACK_URL_INVALID'
  | 'VERIFICATION_MISMATCH'
  | 'VERIFICATION_REDIRECT'
  | 'VERIFICATION_STATUS'
  | 'VERIFICATION_TIMEOUT'
  | 'VERIFICATION_UNREACHABLE';

/** `message` says what came back, in words for the receiver's owner; it holds no secret. */
export type HandshakeOutcome = { verified: true } | { verified: false; code: HandshakeErrorCode; message: string };

export interface HandshakeSecrets {
  readonly token: string;
  readonly secret: string;
}

/** Whether the answer proves that whoever runs the receiver wants our webhooks. */
export function judgeAnswer(answer: Answer, secrets: HandshakeSecrets): HandshakeOutcome {
  const { status, headers } = answer;
  const location = headers.get('location');
  if (status >= 300 && status < 400) {
    const where = location === undefined ? 'no Location' : `Location ${shown(location, secrets)}`;
    return refused(
      'VERIFICATION_REDIRECT',
      `The callback URL answered with a redirect, status ${status} and ${where}. Redirects are not followed; register the final URL.`,
    );
  }
  if (status < 200 || status >= 300) {
    return refused(
      'VERIFICATION_STATUS',
      `The callback URL answered with status ${status}, not 2xx; ${content(answer, secrets)}.`,
    );
  }
  const mismatch = bodyProblem(answer, secrets);
  return mismatch === null
    ? { verified: true }
    : refused('VERIFICATION_MISMATCH', `The callback URL answered with status ${status}, but ${mismatch}.`);
}

/** For an attempt that has no complete answer. */
export function judgeFailure(error: AttemptError, timeoutMs: number): HandshakeOutcome {
  if (error.code === 'ADDRESS_FORBIDDEN') return refused('CALLBACK_URL_FORBIDDEN', error.message);
  if (error.code === 'TIMEOUT') {
    return refused('VERIFICATION_TIMEOUT', `No complete answer within ${timeoutMs / 1000} s. ${error.message}`);
  }
  return refused('VERIFICATION_UNREACHABLE', error.message);
}

function bodyProblem(answer: Answer, secrets: HandshakeSecrets): string | null {
  const { body, bodyBytes, headers } = answer;
  const encoding = headers.get('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    return `the body is encoded (Content-Encoding ${excerpt(encoding)}), although "identity" was asked for`;
  }
  if (bodyBytes > body.length) return `the body is longer than ${body.length / 1024} kB; ${content(answer, secrets)}`;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return `the body is not JSON; ${content(answer, secrets)}`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `the body is not a JSON object; ${content(answer, secrets)}`;
  }
  if (!('verification_token' in value)) {
    return `the JSON object has no verification_token key; ${content(answer, secrets)}`;
  }
  const { verification_token: echoed } = value;
  if (typeof echoed !== 'string') return 'the value of verification_token is not a string';
  return sameToken(echoed, secrets.token) ? null : 'the value of verification_token differs from the one that was sent';
}

/** In constant time; hashed first, because timingSafeEqual wants equal lengths. */
function sameToken(echoed: string, token: string): boolean {
  return timingSafeEqual(sha256(echoed), sha256(token));
}

function sha256(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}

function content({ body, headers }: Answer, secrets: HandshakeSecrets): string {
  const type = headers.get('content-type');
  const start = body.length === 0 ? 'an empty body' : `the body starts with "${shown(body.toString('utf8'), secrets)}"`;
  return `${type === undefined ? 'no Content-Type' : `Content-Type ${shown(type, secrets)}`}, ${start}`;
}

function shown(text: string, { token, secret }: HandshakeSecrets): string {
  return excerpt(text, { 'the token': token, 'the secret': secret });
}

function refused(code: HandshakeErrorCode, message: string): HandshakeOutcome {
  return { verified: false, code, message };
}
