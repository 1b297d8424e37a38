import { parseWebhookBody, type WebhookEvent } from '@deedwire/webhook-events';
import type { ReferralConverted } from '@deedwire/webhook-events/referral.converted/2026-11-01';

/** Returns the response to a request whose signature has been verified over the same bytes. */
export function respond(rawBody: Uint8Array): { status: number; body: string } {
  const received = parseWebhookBody(rawBody);
  switch (received.kind) {
    case 'verification': // The handshake of a new subscription: return the token to prove that you own this URL.
      return { status: 200, body: JSON.stringify({ verification_token: received.verificationToken }) };
    case 'malformed':
      return { status: 400, body: received.problems.join('\n') };
    case 'unknown_event': // Not supported by this release. Acknowledge it, or Deedwire retries the delivery.
      return { status: 200, body: '' };
    case 'event':
      handle(received.event);
      return { status: 200, body: '' };
    default: // Compilation fails here when a later release adds a kind.
      return received satisfies never;
  }
}

function handle(event: WebhookEvent): void {
  if (event.type === 'referral.converted' && event.version === '2026-11-01') recordConversion(event);
}

/** The matter of each converted referral. */
export const matters = new Map<string, string>();

function recordConversion({ data }: ReferralConverted): void {
  matters.set(data.referralId, data.matterId);
}
