import { credentialHeaders } from '@deedwire/testing';
import type { DevCaller } from './dev-file.ts';

/** A command that sends a GraphQL document with the caller's credentials. POSIX shells accept it unchanged. */
export function curlCommand(caller: DevCaller, query: string): string {
  return [
    `curl -sS ${caller.url}`,
    `-H 'Content-Type: application/json'`,
    ...Object.entries(credentialHeaders(caller)).map(([name, value]) => `-H '${name}: ${value}'`),
    `-d '${JSON.stringify({ query })}'`,
  ].join(' \\\n  ');
}
