import type { ParsedBody } from './events.ts';
import { ok, type Outcome } from './responses.ts';

const tokenPattern = /^[A-Za-z0-9_-]{16,256}$/;

/** The response to a handshake. Null if the body is none, or its token could mean something to a browser. */
export function handshake(parsed: ParsedBody): Outcome | null {
  if (parsed.kind !== 'verification' || !tokenPattern.test(parsed.verificationToken)) return null;
  return ok('HANDSHAKE', { verification_token: parsed.verificationToken });
}
