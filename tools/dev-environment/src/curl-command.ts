import type { DevCaller } from './dev-file.ts';

/** A command that sends a GraphQL document with the caller's credentials. POSIX shells accept it unchanged. */
export function curlCommand(caller: DevCaller, query: string): string {
  return [
    `curl -sS ${caller.url}`,
    `-H 'Content-Type: application/json'`,
    `-H 'X-Service-Client-Id: ${caller.clientId}'`,
    `-H 'X-Service-API-Key: ${caller.apiKey}'`,
    `-H 'X-Service-Organization-Id: ${caller.organizationId}'`,
    `-d '${JSON.stringify({ query })}'`,
  ].join(' \\\n  ');
}
