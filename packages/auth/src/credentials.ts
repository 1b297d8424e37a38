import { apiKeyHeader } from '@deedwire/domain';

/** The values of the credential headers of a request. */
export interface Credentials {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

/** Visible ASCII without a comma. A comma means that a proxy has joined a repeated header. */
const headerValue = /^[!-+\--~]{1,128}$/;

const fieldOfHeader: ReadonlyMap<string, keyof Credentials> = new Map([
  ['x-service-client-id', 'clientId'],
  [apiKeyHeader, 'apiKey'],
  ['x-service-organization-id', 'organizationId'],
]);

// Most headers are others, and comparing lengths takes the least time.
const headerLengths: ReadonlySet<number> = new Set([...fieldOfHeader.keys()].map(({ length }) => length));

/**
 * Reads the three credential headers. Returns null if one is missing, empty, malformed or repeated.
 *
 * @param rawHeaders alternating names and values, as in `rawHeaders` of node:http. Do not pass `headers`, in which Node
 * has already joined repeated headers.
 */
export function readCredentials(rawHeaders: readonly string[]): Credentials | null {
  const found: Partial<Credentials> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]);
    const field = headerLengths.has(name.length) ? fieldOfHeader.get(name.toLowerCase()) : undefined;
    if (field === undefined) continue;
    const value = String(rawHeaders[index + 1]);
    if (found[field] !== undefined || !headerValue.test(value)) return null;
    found[field] = value;
  }
  const { clientId, apiKey, organizationId } = found;
  if (clientId === undefined || apiKey === undefined || organizationId === undefined) return null;
  return { clientId, apiKey, organizationId };
}
