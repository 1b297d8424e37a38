import type { DevFile } from './dev-file.ts';

/** Commands to copy and paste: the first calls of a newcomer. */
export function curlLines({ lender, partner, referrals }: DevFile): string {
  const [referral = ''] = referrals;
  return [
    curl(lender, '{ lender { name members { id firstName lastName email } } }'),
    curl(partner, `{ referral(id: "${referral}") { id status clientName createdAt } }`),
    curl(partner, '{ webhookEventTypes { type description versions { version status } } }'),
  ].join('\n\n');
}

function curl(caller: DevFile['lender'], query: string): string {
  return [
    `curl -sS ${caller.url}`,
    `-H 'Content-Type: application/json'`,
    `-H 'X-Service-Client-Id: ${caller.clientId}'`,
    `-H 'X-Service-API-Key: ${caller.apiKey}'`,
    `-H 'X-Service-Organization-Id: ${caller.organizationId}'`,
    `-d '${JSON.stringify({ query })}'`,
  ].join(' \\\n  ');
}
