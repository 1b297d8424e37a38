import {
  pauseWebhookSubscription,
  readWebhookSubscription,
  RefusedError,
  type OperatorContext,
} from '@deedwire/actions';
import type { DatabaseState } from './dev-state.ts';

/**
 * Pauses the subscriptions that `pnpm dev --receiver` created, whose deliveries would fail while the receiver does not run.
 * `subscribeReceiver` resumes them.
 *
 * @returns whether one was active
 */
export async function pauseReceiver(context: OperatorContext, state: DatabaseState): Promise<boolean> {
  let isPaused = false;
  for (const subscriptionId of [state.receiverSubscriptionId, state.lenderReceiverSubscriptionId]) {
    if (subscriptionId === null) continue;
    try {
      const { status } = await readWebhookSubscription(context, { subscriptionId });
      if (status === 'PAUSED') continue;
      await pauseWebhookSubscription(context, context.operator, { id: subscriptionId });
      isPaused = true;
    } catch (error) {
      // Somebody has deleted it.
      if (!(error instanceof RefusedError)) throw error;
    }
  }
  return isPaused;
}
