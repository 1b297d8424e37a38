import { formatGid, secretAssociatedData } from '@deedwire/domain';
import type { Logger } from '@deedwire/service-runtime';
import { SecretUnreadableError, type SecretKeyRing } from '@deedwire/store';
import type { DueDeliveryRow, LaneLease } from '@deedwire/store/webhook-dispatch';
import type { AttemptResult, WebhookSender } from '@deedwire/webhook-sender';
import type { WorkerMetrics } from '../metrics.ts';
import type { Settlement } from './dispatch-store.ts';
import { classifyAttempt, type Verdict } from './verdict.ts';

export interface AttemptContext {
  sender: WebhookSender;
  secretKeys: SecretKeyRing;
  gidNamespace: string;
  logger: Logger;
  metrics: WorkerMetrics;
  now: () => Date;
  /** 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

/** How long a delivery waits whose secret cannot be read: until somebody has mended the configuration. */
const unreadableSecretDelayMs = 60_000;

/** Sends one delivery once. No transaction is open meanwhile. */
export async function attemptDelivery(
  context: AttemptContext,
  lane: LaneLease,
  delivery: DueDeliveryRow,
): Promise<Settlement> {
  const deliveryId = delivery.deliveryId;
  const number = delivery.attempts + 1;
  const webhookId = formatGid(context.gidNamespace, 'WebhookDelivery', deliveryId);
  const logger = context.logger.child({ requestId: delivery.requestId, deliveryId: webhookId, attempt: number });

  const secret = readSecret(context, delivery);
  if (secret === null) {
    logger.error({ alarm: 'secret-unreadable' }, 'delivery postponed: its webhook secret cannot be decrypted');
    const next = { kind: 'due', attempts: delivery.attempts, delayMs: unreadableSecretDelayMs } as const;
    return { lane, deliveryId, attempt: null, next, goneUrl: null };
  }

  if (number === 1)
    context.metrics.deliveryLag.observe((context.now().getTime() - delivery.occurredAt.getTime()) / 1_000);
  const target = context.sender.target({ url: delivery.callbackUrl, secret });
  const outcome = await target.deliver({
    webhookId,
    body: delivery.body,
    headers: {
      'X-Service-Webhook-Event': delivery.eventType,
      'X-Service-Webhook-Event-Version': delivery.eventVersion,
      'X-Service-Webhook-Subscription-Id': formatGid(
        context.gidNamespace,
        'WebhookSubscription',
        delivery.subscriptionId,
      ),
      'X-Service-Webhook-Attempt': String(number),
      'X-Service-Webhook-Sequence': delivery.sequence,
    },
  });
  const { verdict, settlement } = settleOutcome(lane, delivery, outcome, context);
  const { responseStatus, error, durationMs } = outcome;
  context.metrics.attempts.inc({ verdict: verdict.kind });
  context.metrics.attemptDuration.observe(durationMs / 1_000);
  logger.info({ verdict: verdict.kind, responseStatus, error, durationMs }, 'attempt');
  return settlement;
}

/** What is written of an attempt that a bug kept from being made: a failed one. */
export function brokenAttempt(
  context: Pick<AttemptContext, 'now' | 'random'>,
  lane: LaneLease,
  delivery: DueDeliveryRow,
): Settlement {
  const nothing = { responseStatus: null, error: 'PROTOCOL_ERROR', retryAfter: null } as const;
  const outcome = { startedAt: context.now(), durationMs: 0, ...nothing };
  return settleOutcome(lane, delivery, outcome, context).settlement;
}

function settleOutcome(
  lane: LaneLease,
  delivery: DueDeliveryRow,
  outcome: AttemptResult,
  { now, random }: Pick<AttemptContext, 'now' | 'random'>,
): { verdict: Verdict; settlement: Settlement } {
  const deliveryId = delivery.deliveryId;
  const number = delivery.attempts + 1;
  const verdict = classifyAttempt(outcome, number, now(), random());
  const { startedAt, durationMs, responseStatus, error } = outcome;
  const goneUrl = verdict.kind !== 'delivered' && verdict.pause === 'GONE' ? delivery.callbackUrl : null;
  const settlement: Settlement = {
    lane,
    deliveryId,
    attempt: { deliveryId, number, startedAt, durationMs, responseStatus, error },
    next: nextStep(verdict, number),
    goneUrl,
  };
  return { verdict, settlement };
}

function nextStep(verdict: Verdict, attempts: number): Settlement['next'] {
  switch (verdict.kind) {
    case 'delivered':
      return { kind: 'finished', status: 'DELIVERED' };
    case 'failed':
      return { kind: 'finished', status: 'FAILED' };
    case 'retry':
      return { kind: 'due', attempts, delayMs: verdict.delayMs };
  }
}

/** Null when it cannot be decrypted: the key ring lacks a key, or the row was tampered with. */
function readSecret({ secretKeys }: AttemptContext, delivery: DueDeliveryRow): string | null {
  try {
    return secretKeys.decrypt(delivery.secretCiphertext, secretAssociatedData(delivery.subscriptionId));
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null;
    throw error;
  }
}
