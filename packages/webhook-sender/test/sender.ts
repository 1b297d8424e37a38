import { onTestFinished } from 'vitest';
import {
  type AttemptResult,
  createWebhookSender,
  type Delivery,
  type WebhookSender,
  type WebhookSenderOptions,
  type WebhookTarget,
} from '../src/index.ts';

/** One delivery together with its target. `headers` are the headers of the delivery. */
export type TargetedDelivery = Delivery & Omit<WebhookTarget, 'headers'>;

export interface TestSender extends WebhookSender {
  /** Makes one attempt for a new target. */
  readonly deliver: (delivery: TargetedDelivery) => Promise<AttemptResult>;
}

/** Creates a sender that is closed when the test finishes. */
export function sender(options: Partial<WebhookSenderOptions> = {}): TestSender {
  const created = createWebhookSender({ policy: 'development', userAgent: 'Deedwire-Webhooks/1.0.0', ...options });
  onTestFinished(() => created.close());
  return {
    ...created,
    deliver: ({ url, secret, nextSecret, ...delivery }) =>
      created.target({ url, secret, nextSecret }).deliver(delivery),
  };
}
