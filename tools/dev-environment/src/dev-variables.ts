import type { DevFile } from './dev-file.ts';

/**
 * The content of `<home>/dev.env`: the partner's URL, credentials and webhook secret as variables for POSIX shells.
 * No value contains a single quote: all of them are URLs, generated keys or global identifiers.
 */
export function devVariables({ partner }: DevFile, partnerId: string, webhookSecret: string): string {
  const variables = {
    PARTNER_URL: partner.url,
    PARTNER_ID: partnerId,
    CLIENT_ID: partner.clientId,
    API_KEY: partner.apiKey,
    ORGANIZATION_ID: partner.organizationId,
    WEBHOOK_SECRET: webhookSecret,
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
