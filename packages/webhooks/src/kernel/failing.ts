/** A receiver that has failed for so long without a success is failing: `WebhookSubscriptionHealth`, and alerts say so. */
export const failingAfterMs = 5 * 60 * 1_000;
