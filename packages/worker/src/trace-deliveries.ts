import { formatGid } from '@deedwire/core';
import type { Tracing } from '@deedwire/service-runtime';
import type { Send, TraceFanOut } from '@deedwire/webhooks';

/** Makes a span of the fan-out of each event that is traced. */
export function createTraceFanOut(tracing: Tracing, gidNamespace: string): TraceFanOut {
  return (event, deliveries, startMs) =>
    tracing.start(`fan-out ${event.type}`, {
      kind: 'internal',
      parent: event.traceParent,
      startMs,
      attributes: {
        'deedwire.event.id': formatGid(gidNamespace, 'WebhookEvent', event.id),
        'deedwire.event.type': event.type,
        'deedwire.deliveries': deliveries,
        ...requestAttribute(event),
      },
    });
}

/** Makes a span of each attempt of a delivery that is traced. The receiver gets nothing of it. */
export function traceSend(send: Send, tracing: Tracing, gidNamespace: string): Send {
  return async (target, delivery, attempt, details) => {
    if (delivery.traceParent === undefined) return send(target, delivery, attempt, details);
    const span = tracing.start(`attempt ${delivery.eventType}`, {
      kind: 'client',
      parent: delivery.traceParent,
      attributes: {
        'deedwire.delivery.id': formatGid(gidNamespace, 'WebhookDelivery', delivery.deliveryId),
        'deedwire.event.id': formatGid(gidNamespace, 'WebhookEvent', delivery.eventId),
        'deedwire.event.type': delivery.eventType,
        'deedwire.event.version': delivery.eventVersion,
        'deedwire.attempt': attempt,
        // The rest of the URL can contain secrets.
        'server.address': new URL(target.callbackUrl).hostname,
        ...requestAttribute(delivery),
      },
    });
    try {
      const result = await send(target, delivery, attempt, details);
      const { responseStatus, error } = result;
      const isSuccess = error === null && responseStatus !== null && responseStatus >= 200 && responseStatus <= 299;
      span.end(
        isSuccess ? undefined : (error ?? String(responseStatus)),
        responseStatus === null ? {} : { 'http.response.status_code': responseStatus },
      );
      return result;
    } catch (error) {
      span.end(error instanceof Error ? error.name : 'Error');
      throw error;
    }
  };
}

function requestAttribute({ requestId }: { requestId: string | null }): Record<string, string> {
  return requestId === null ? {} : { 'deedwire.request.id': requestId };
}
