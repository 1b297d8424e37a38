import { parseWebhookBody, type WebhookEvent } from '@deedwire/webhook-events';
import type { ReferralConverted } from '@deedwire/webhook-events/referral.converted/2026-11-01';

/** Answers a request to the callback URL. Its signature has been verified, over these same bytes. */
export function answer(rawBody: Uint8Array): { status: number; body: string } {
  const received = parseWebhookBody(rawBody);
  switch (received.kind) {
    case 'verification': // The subscription is being created: prove that this URL is yours.
      return { status: 200, body: JSON.stringify({ verification_token: received.verificationToken }) };
    case 'malformed':
      return { status: 400, body: received.problems.join('\n') };
    case 'unknown_event': // Newer than this release of the package, or not for you. Acknowledge, or it is sent again.
      return { status: 200, body: '' };
    case 'event':
      handle(received.event);
      return { status: 200, body: '' };
    default: // The compiler says here when a release of the package adds a kind.
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
