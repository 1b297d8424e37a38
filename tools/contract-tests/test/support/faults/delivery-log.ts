import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { acknowledge, type ReceivedRequest, type Receiver, startReceiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';

/**
 * A request that a receiver got. The body is kept as a digest, because a long run has hundreds of thousands of requests.
 */
export interface ReceivedDelivery {
  /** The path of the callback URL. */
  path: string;
  subscriptionId: string;
  webhookId: string;
  /** The number of the attempt, from 1. */
  attempt: number;
  sequence: number;
  recordId: string;
  digest: string;
  /** Whether the signature verifies with the secret of the subscription. */
  isAuthentic: boolean;
}

export interface DeliveryLog {
  /** The callback URL. */
  url: string;
  deliveries: readonly ReceivedDelivery[];
  /** How old a signature may be. A test that sets the clock of the database back increases it. */
  toleranceSeconds: number;
  /** A test can replace it; the next request uses the new function. */
  respond: Receiver['onDelivery'];
  setSecret(subscriptionId: string, secret: string): void;
  /** Resolves once `count` more requests have arrived. */
  waitForMore(count: number): Promise<void>;
  close(): Promise<void>;
}

const waitTimeoutMs = 120_000;

/** Some requests are in flight at every moment, so that every fault meets some. */
export const respondAfterMs =
  (delayMs: number): Receiver['onDelivery'] =>
  (response, request) =>
    void setTimeout(() => acknowledge(response, request), delayMs);

/** @param idIn the property of the data of an event that is the id of its record */
export async function startDeliveryLog(idIn = 'orderId'): Promise<DeliveryLog> {
  const secrets = new Map<string, string>();
  const deliveries: ReceivedDelivery[] = [];
  const receiver = await startReceiver();
  receiver.onDelivery = (response, request) => {
    // Only the log keeps requests.
    receiver.requests.length = 0;
    receiver.deliveries.length = 0;
    deliveries.push(toDelivery(request, idIn, secrets, log.toleranceSeconds));
    log.respond(response, request);
  };
  const log: DeliveryLog = {
    url: receiver.url,
    deliveries,
    toleranceSeconds: 300,
    respond: respondAfterMs(20),
    setSecret: (subscriptionId, secret) => void secrets.set(subscriptionId, secret),
    async waitForMore(count) {
      const target = deliveries.length + count;
      const deadlineMs = performance.now() + waitTimeoutMs;
      while (deliveries.length < target) {
        if (performance.now() > deadlineMs) throw new Error(`Only ${deliveries.length} of ${target} requests arrived.`);
        await sleep(5);
      }
    },
    close: () => receiver.close(),
  };
  return log;
}

function toDelivery(
  { path, headers, body }: ReceivedRequest,
  idIn: string,
  secrets: ReadonlyMap<string, string>,
  toleranceSeconds: number,
): ReceivedDelivery {
  const { data }: { data: Record<string, unknown> } = JSON.parse(body.toString());
  const subscriptionId = String(headers['x-service-webhook-subscription-id']);
  return {
    path,
    subscriptionId,
    webhookId: String(headers['webhook-id']),
    attempt: Number(headers['x-service-webhook-attempt']),
    sequence: Number(headers['x-service-webhook-sequence']),
    recordId: String(data[idIn]),
    digest: hash('sha256', body, 'base64'),
    isAuthentic: isAuthentic({ headers, body, secret: secrets.get(subscriptionId) ?? '', toleranceSeconds }),
  };
}

function isAuthentic(request: Parameters<typeof verifyWebhook>[0]): boolean {
  try {
    verifyWebhook(request);
    return true;
  } catch {
    return false;
  }
}
