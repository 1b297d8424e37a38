import { deliveryHeaders, formatGid, type Service } from '@deedwire/core';
import type { PreparedTarget, WebhookSender } from '@deedwire/webhook-sender';
import type { Send, SendableTarget } from '@deedwire/webhooks';
import type { DeprecationHeaders } from './deprecation-headers.ts';

export interface SendOptions {
  service: Pick<Service, 'names'>;
  sender: Pick<WebhookSender, 'target'>;
  gidNamespace: string;
  deprecationHeaders: DeprecationHeaders;
}

/** Sends deliveries as webhooks. Prepares a target once, for as long as it does not change. */
export function createSend({ service, sender, gidNamespace, deprecationHeaders }: SendOptions): Send {
  const names = deliveryHeaders(service);
  /** Announces a delivery that was finished before. */
  const replayHeader = { [names.replay]: 'true' };
  const prepared = new WeakMap<SendableTarget, PreparedTarget>();

  function prepare(target: SendableTarget): PreparedTarget {
    const subscriptionId = formatGid(gidNamespace, 'WebhookSubscription', target.subscriptionId);
    const created = sender.target({
      url: target.callbackUrl,
      secret: target.secret,
      nextSecret: target.nextSecret ?? undefined,
      timeoutMs: target.timeoutMs,
      secretHeader: target.requestHeader ?? undefined,
      headers: { [names.subscriptionId]: subscriptionId },
    });
    prepared.set(target, created);
    return created;
  }

  return (target, delivery, attempt, details) =>
    (prepared.get(target) ?? prepare(target)).deliver({
      webhookId: formatGid(gidNamespace, 'WebhookDelivery', delivery.deliveryId),
      body: delivery.body,
      headers: {
        [names.event]: delivery.eventType,
        [names.eventVersion]: delivery.eventVersion,
        [names.attempt]: String(attempt),
        [names.sequence]: delivery.sequence,
        ...(delivery.replayId !== null && replayHeader),
        ...(delivery.isTest && { [names.test]: 'true' }),
        ...deprecationHeaders(delivery.eventType, delivery.eventVersion),
      },
      details,
    });
}
