/** Descriptions of the headers of a delivery, without those of the transport. */
export const deliveryHeaderDescriptions: Readonly<Record<string, string>> = {
  'Content-Type': '`application/json`. The body is JSON in UTF-8.',
  'User-Agent': '`Deedwire-Webhooks/` followed by a version.',
  'X-Service-Webhook-Event': 'The event type, as in the body.',
  'X-Service-Webhook-Event-Version': 'The version of the payload, as in the body.',
  'X-Service-Webhook-Subscription-Id': 'The global identifier of the subscription.',
  'X-Service-Webhook-Sequence':
    "The number of the delivery among the subscription's deliveries: it counts from 1 without gaps and is the same on every attempt. Order by it.",
  'X-Service-Webhook-Attempt': 'The number of the attempt, counted from 1.',
  'X-Service-Webhook-Timestamp': 'When the attempt was signed: Unix seconds, ten digits.',
  'X-Service-Webhook-Signature':
    'Lowercase hex of HMAC-SHA256 over `<timestamp>.<raw body>`, keyed with the UTF-8 bytes of the whole secret.',
  'webhook-id':
    "The delivery's global identifier, the same on every attempt. Deduplicate by it if you verify `webhook-signature`, which covers it. `X-Service-Webhook-Signature` does not: deduplicate by the `id` of the body instead.",
  'webhook-timestamp':
    'The same time as `X-Service-Webhook-Timestamp`, for [Standard Webhooks](https://www.standardwebhooks.com).',
  'webhook-signature':
    '`v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<timestamp>.<raw body>`, keyed with the bytes of the base64 after `whsec_`.',
};
