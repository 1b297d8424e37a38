import { formatGid } from '@deedwire/domain';
import { secretAssociatedData } from '@deedwire/actions';
import type { Logger } from '@deedwire/service-runtime';
import { SecretUnreadableError, type DueDeliveryRow, type LaneLease, type SecretKeyRing } from '@deedwire/store';
import type { WebhookSender } from '@deedwire/webhook-sender';

import type { WorkerMetrics } from '../metrics.ts';
import type { Settlement } from './dispatch-store.ts';
import { judge } from './verdict.ts';

export interface AttemptContext {
  sender: WebhookSender;
  secretKeys: SecretKeyRing;
  gidNamespace: string;
  logger: Logger;
  metrics: WorkerMetrics;
}

/** How long a delivery waits whose secret cannot be read: until somebody has mended the configuration. */
const UNREADABLE_SECRET_DELAY_MS = 60_000;

/** Sends one delivery once. No transaction is open meanwhile. Never rejects. */
export async function attemptDelivery(
  context: AttemptContext,
  lane: LaneLease,
  delivery: DueDeliveryRow,
): Promise<Settlement> {
  const deliveryId = delivery.delivery_id;
  const number = delivery.attempts + 1;
  const webhookId = formatGid(context.gidNamespace, 'WebhookDelivery', deliveryId);
  const logger = context.logger.child({ deliveryId: webhookId, attempt: number });

  const secret = readSecret(context, delivery);
  if (secret === null) {
    logger.error({ alarm: 'secret-unreadable' }, 'delivery postponed: its webhook secret cannot be decrypted');
    const next = { kind: 'due', attempts: delivery.attempts, delayMs: UNREADABLE_SECRET_DELAY_MS } as const;
    return { lane, deliveryId, attempt: null, next, pause: null };
  }

  if (number === 1) context.metrics.deliveryLag.observe((Date.now() - delivery.occurred_at.getTime()) / 1_000);
  const outcome = await context.sender.deliver({
    url: delivery.callback_url,
    webhookId,
    body: delivery.body,
    secret,
    headers: {
      'X-Service-Webhook-Event': delivery.event_type,
      'X-Service-Webhook-Event-Version': delivery.event_version,
      'X-Service-Webhook-Subscription-Id': formatGid(
        context.gidNamespace,
        'WebhookSubscription',
        delivery.subscription_id,
      ),
      'X-Service-Webhook-Attempt': String(number),
      'X-Service-Webhook-Sequence': delivery.sequence,
    },
  });
  const verdict = judge(outcome, number, new Date(), Math.random());
  const { startedAt, durationMs, responseStatus, error } = outcome;
  context.metrics.attempts.inc({ verdict: verdict.kind });
  context.metrics.attemptDuration.observe(durationMs / 1_000);
  logger.info({ verdict: verdict.kind, responseStatus, error, durationMs }, 'attempt');

  const attempt = { deliveryId, number, startedAt, durationMs, responseStatus, error };
  switch (verdict.kind) {
    case 'delivered':
      return { lane, deliveryId, attempt, next: { kind: 'finished', status: 'DELIVERED' }, pause: null };
    case 'failed':
      return { lane, deliveryId, attempt, next: { kind: 'finished', status: 'FAILED' }, pause: verdict.pause };
    case 'retry': {
      const next = { kind: 'due', attempts: number, delayMs: verdict.delayMs } as const;
      return { lane, deliveryId, attempt, next, pause: verdict.pause };
    }
  }
}

/** Null when it cannot be decrypted: the key ring lacks a key, or the row was tampered with. */
function readSecret({ secretKeys }: AttemptContext, delivery: DueDeliveryRow): string | null {
  try {
    return secretKeys.decrypt(delivery.secret_ciphertext, secretAssociatedData(delivery.subscription_id));
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null;
    throw error;
  }
}
