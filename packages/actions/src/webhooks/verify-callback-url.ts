import { countHandshake, deleteOldHandshakeCounts } from '@deedwire/store/webhook-subscriptions';
import type { Caller, WebhookActionContext } from '../context.ts';
import { inputError, type UserError } from '../user-error.ts';

/** The user errors about a callback URL that was called. */
export type VerificationErrorCode =
  | 'CALLBACK_URL_FORBIDDEN'
  | 'CALLBACK_URL_INVALID'
  | 'LIMIT_REACHED'
  | 'VERIFICATION_MISMATCH'
  | 'VERIFICATION_REDIRECT'
  | 'VERIFICATION_STATUS'
  | 'VERIFICATION_TIMEOUT'
  | 'VERIFICATION_UNREACHABLE';

// Each makes us call somebody's server: without a bound, we would be a tool to knock on others' doors.
const handshakesPerMinute = 20;

/**
 * Has a callback URL prove that its owner wants our requests. No transaction may be open: it takes up to 5 seconds.
 *
 * @returns null when it did
 */
export async function verifyCallbackUrl(
  context: WebhookActionContext,
  caller: Caller,
  request: { url: string; secret: string },
): Promise<UserError<VerificationErrorCode> | null> {
  const handshakes = await countHandshake(context.store, caller.accountId, caller.interfaceName);
  if (handshakes === 1) await deleteOldHandshakeCounts(context.store, caller.accountId);
  if (handshakes > handshakesPerMinute) {
    const message = `There were ${handshakesPerMinute} verification requests within this minute. Try again in the next.`;
    return { code: 'LIMIT_REACHED', message, field: null };
  }
  const outcome = await context.sender.verify(request);
  return outcome.verified ? null : inputError(outcome.code, 'callbackUrl', outcome.message);
}
