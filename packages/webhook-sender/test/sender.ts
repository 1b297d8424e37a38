import { generateWebhookSecret } from '@deedwire/webhook-signing';
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

export const secret = generateWebhookSecret();

/** A delivery without headers, unless `more` has others. */
export function delivery(url: string, more: Partial<TargetedDelivery> = {}): TargetedDelivery {
  return { url, webhookId: 'gid://service/WebhookDelivery/1', body: Buffer.from('{}'), secret, headers: {}, ...more };
}

/** Creates a sender that is closed when the test finishes. Unless `options` say otherwise, its timeout is longer than a machine stalls. */
export function sender(options: Partial<WebhookSenderOptions> = {}): TestSender {
  const created = createWebhookSender({
    policy: 'development',
    headerPrefix: 'X-Service',
    userAgent: 'Deedwire-Webhooks/1.0.0',
    timeoutMs: 60_000,
    ...options,
  });
  onTestFinished(() => created.close());
  return {
    ...created,
    deliver: ({ url, secret: first, nextSecret, secretHeader, timeoutMs, ...rest }) =>
      created.target({ url, secret: first, nextSecret, secretHeader, timeoutMs }).deliver(rest),
  };
}

/** Creates a sender that resolves every name to this machine, unless another resolver is given. */
export function localSender(options: Partial<WebhookSenderOptions> = {}): TestSender {
  return sender({ resolve: async () => ['127.0.0.1'], ...options });
}
