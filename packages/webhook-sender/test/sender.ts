import { onTestFinished } from 'vitest';
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from '../src/index.ts';

/** Creates a sender that is closed when the test finishes. */
export function sender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const created = createWebhookSender({ policy: 'development', userAgent: 'Deedwire-Webhooks/1.0.0', ...options });
  onTestFinished(() => created.close());
  return created;
}
