import type { InterfaceSchemaBuilder, InputTypeRef } from '../schema/builder.ts';

export type WebhookSubscriptionEventTypeInputRef = InputTypeRef<{ type: string; version?: string | null | undefined }>;

/** Adds `WebhookSubscriptionEventTypeInput`. */
export function addWebhookSubscriptionEventTypeInput(
  builder: InterfaceSchemaBuilder,
): WebhookSubscriptionEventTypeInputRef {
  return builder.inputType('WebhookSubscriptionEventTypeInput', {
    fields: (t) => ({
      type: t.string({ required: true }),
      version: t.string(),
    }),
  });
}
