import { handshakeErrorCodes, type HandshakeTarget } from '@deedwire/webhook-sender';
import type { Caller, WebhookActionContext } from '../kernel/context.ts';
import { inputError, type UserError } from '../kernel/errors.ts';
import { countInMinute, deleteOldLimitCounts } from '../webhooks/subscriptions/subscriptions.ts';

/** The user errors of every mutation that verifies a callback URL. */
export const verificationErrorCodes = [...handshakeErrorCodes, 'VERIFICATION_RATE_LIMITED'] as const;

export type VerificationErrorCode = (typeof verificationErrorCodes)[number];

// Each handshake sends a request to a server of the client's choice. The limit keeps us from being used to scan third parties.
const handshakesPerMinute = 20;

/**
 * Verifies a callback URL with a handshake. It takes up to 5 seconds, so no transaction may be open. Without `READ_PAYLOAD`, the message
 * of a failure quotes nothing of the response.
 *
 * @returns null if the URL is verified
 */
export async function verifyCallbackUrl(
  context: WebhookActionContext,
  caller: Caller,
  request: HandshakeTarget,
): Promise<UserError<VerificationErrorCode> | null> {
  const handshakes = await countInMinute(context.store, 'handshakes', caller);
  if (handshakes === 1) await deleteOldLimitCounts(context.store, caller.accountId);
  if (handshakes > handshakesPerMinute) {
    const message = `This is verification ${handshakes} of a callback URL of the account in this minute; at most ${handshakesPerMinute} are allowed. Try again in the next minute.`;
    return { code: 'VERIFICATION_RATE_LIMITED', message, field: null };
  }
  const hidesResponse = caller.abilities?.includes('READ_PAYLOAD') === false;
  const result = await context.sender.verify(hidesResponse ? { ...request, hidesResponse } : request);
  if (result.verified) return null;
  const { requestId } = caller;
  if (result.hostProblem !== undefined) context.reportHostProblem({ requestId, ...result.hostProblem });
  return inputError(result.code, 'callbackUrl', result.message);
}
