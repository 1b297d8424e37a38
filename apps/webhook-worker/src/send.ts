import { deliveryHeaders, formatGid } from '@deedwire/domain';
import type { PreparedTarget, WebhookSender } from '@deedwire/webhook-sender';
import type { Send, SendableTarget } from '@deedwire/webhooks';
import type { DeprecationHeaders } from './deprecation-headers.ts';

/** Announces a delivery that was finished before. */
const replayHeader = { [deliveryHeaders.replay]: 'true' };

/** Sends deliveries as webhooks. Prepares a target once, for as long as it does not change. */
export function createSend(
  sender: Pick<WebhookSender, 'target'>,
  gidNamespace: string,
  deprecationHeaders: DeprecationHeaders,
): Send {
  const prepared = new WeakMap<SendableTarget, PreparedTarget>();

  function prepare(target: SendableTarget): PreparedTarget {
    const subscriptionId = formatGid(gidNamespace, 'WebhookSubscription', target.subscriptionId);
    const created = sender.target({
      url: target.callbackUrl,
      secret: target.secret,
      nextSecret: target.nextSecret ?? undefined,
      timeoutMs: target.timeoutMs,
      secretHeader: target.requestHeader ?? undefined,
      headers: { [deliveryHeaders.subscriptionId]: subscriptionId },
    });
    prepared.set(target, created);
    return created;
  }

  return (target, delivery, attempt, details) =>
    (prepared.get(target) ?? prepare(target)).deliver({
      webhookId: formatGid(gidNamespace, 'WebhookDelivery', delivery.deliveryId),
      body: delivery.body,
      headers: {
        [deliveryHeaders.event]: delivery.eventType,
        [deliveryHeaders.eventVersion]: delivery.eventVersion,
        [deliveryHeaders.attempt]: String(attempt),
        [deliveryHeaders.sequence]: delivery.sequence,
        ...(delivery.replayId !== null && replayHeader),
        ...(delivery.isTest && { [deliveryHeaders.test]: 'true' }),
        ...deprecationHeaders(delivery.eventType, delivery.eventVersion),
      },
      details,
    });
}
