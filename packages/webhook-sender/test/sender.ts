import { onTestFinished } from 'vitest';
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from '../src/index.ts';

/** Closed when the test has finished. */
export function sender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const created = createWebhookSender({ policy: 'development', userAgent: 'Deedwire-Webhooks/1.0.0', ...options });
  onTestFinished(() => created.close());
  return created;
}
