import type { DevCaller } from './dev-file.ts';

/** The header fields with the caller's credentials. */
export function credentialFields({ clientId, apiKey, organizationId }: Omit<DevCaller, 'url'>): Record<string, string> {
  return {
    'X-Service-Client-Id': clientId,
    'X-Service-API-Key': apiKey,
    'X-Service-Organization-Id': organizationId,
  };
}

/** A command that sends a GraphQL document with the caller's credentials. POSIX shells accept it unchanged. */
export function curlCommand(caller: DevCaller, query: string): string {
  return [
    `curl -sS ${caller.url}`,
    `-H 'Content-Type: application/json'`,
    ...Object.entries(credentialFields(caller)).map(([name, value]) => `-H '${name}: ${value}'`),
    `-d '${JSON.stringify({ query })}'`,
  ].join(' \\\n  ');
}
