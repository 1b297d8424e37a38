/** What the credential headers of one request carry, each present exactly once. */
export interface Credentials {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

/** Visible ASCII without a comma: a comma is what a proxy leaves behind when it joins a header that was sent twice. */
const headerValue = /^[!-+\--~]{1,128}$/;

const fieldOfHeader: ReadonlyMap<string, keyof Credentials> = new Map([
  ['x-service-client-id', 'clientId'],
  ['x-service-api-key', 'apiKey'],
  ['x-service-organization-id', 'organizationId'],
]);

/**
 * Reads the three credential headers. Null when one is missing, empty, malformed or sent twice.
 *
 * @param rawHeaders names and values in turn, as in node:http's `rawHeaders`. Not `headers`: there node has already joined
 * what was sent twice.
 */
export function readCredentials(rawHeaders: readonly string[]): Credentials | null {
  const found: Partial<Credentials> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const field = fieldOfHeader.get(String(rawHeaders[index]).toLowerCase());
    if (field === undefined) continue;
    const value = String(rawHeaders[index + 1]);
    if (found[field] !== undefined || !headerValue.test(value)) return null;
    found[field] = value;
  }
  const { clientId, apiKey, organizationId } = found;
  if (clientId === undefined || apiKey === undefined || organizationId === undefined) return null;
  return { clientId, apiKey, organizationId };
}
