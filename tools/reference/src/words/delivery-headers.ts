/** The headers of a delivery that say something about it, and what. Those of the transport are not listed. */
export const deliveryHeaderWords: Readonly<Record<string, string>> = {
  'Content-Type': '`application/json`. The body is JSON in UTF-8.',
  'User-Agent': '`Deedwire-Webhooks/` and a version.',
  'X-Service-Webhook-Event': 'The event type, as in the body.',
  'X-Service-Webhook-Event-Version': 'The version of the payload, as in the body.',
  'X-Service-Webhook-Subscription-Id': 'The subscription that the delivery is for.',
  'X-Service-Webhook-Sequence':
    "Counts the subscription's deliveries from 1 without gaps, the same on every attempt. Order by it.",
  'X-Service-Webhook-Attempt': 'Counts the attempts of the delivery from 1.',
  'X-Service-Webhook-Timestamp': 'When the attempt was signed: Unix seconds, ten digits.',
  'X-Service-Webhook-Signature':
    'Lower-case hex of HMAC-SHA256 over `<timestamp>.<raw body>`, keyed with the UTF-8 bytes of the whole secret.',
  'webhook-id': "The delivery's global identifier, the same on every attempt. Deduplicate by it.",
  'webhook-timestamp': 'The same time, for [Standard Webhooks](https://www.standardwebhooks.com).',
  'webhook-signature':
    '`v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<timestamp>.<raw body>`, keyed with the bytes that the base64 behind `whsec_` stands for.',
};
