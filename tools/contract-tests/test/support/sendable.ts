import { toRecordId } from '@deedwire/domain';
import type { SendableTarget } from '@deedwire/webhooks';

const subscription = {
  subscriptionId: toRecordId<'WebhookSubscription'>('5'),
  accountId: toRecordId<'Partner'>('7'),
};

/** A target of the worker whose receiver has not failed. */
export function sendableTarget(target: Pick<SendableTarget, 'callbackUrl' | 'nextSecret' | 'secret'>): SendableTarget {
  const state = {
    consecutiveFailures: 0,
    breakerOpenUntilMs: null,
    breakerProbes: 0,
    holdUntilMs: null,
    failingSinceMs: null,
    lastFailureMs: null,
    lastFailedDeliveryId: null,
  };
  const marks = { hastenedAtMs: -Infinity, sendPendingAtMs: -Infinity };
  return { ...subscription, urlNumber: 1, rotationEndsAtMs: null, state, marks, ...target };
}

/** The part of a delivery of the worker that does not depend on the test: it is of the target's subscription, and due. */
export const dueDelivery = {
  ...subscription,
  requestId: null,
  isTest: false,
  priorAttempts: 0,
  replayId: null,
  claims: 0,
  dueAtMs: 0,
};
