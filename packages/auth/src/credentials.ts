import { apiKeyHeader, ofService, requestHeaders, type Service } from '@deedwire/core';

/** The values of the credential headers of a request, which can be malformed. */
export interface Credentials {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

/** Visible ASCII without a comma. A comma means that Node or a proxy has joined a repeated header. */
const wellFormed = /^[!-+\--~]{1,128}$/;
const maxCharacters = 128;

/** In lower case, as node:http has them. */
const headersOf = ofService((service: Pick<Service, 'names'>) => ({
  clientId: requestHeaders(service).clientId.toLowerCase(),
  apiKey: apiKeyHeader(service),
  organizationId: requestHeaders(service).organizationId.toLowerCase(),
}));

/**
 * Reads the three credential headers. Returns null if one is missing, empty or too long.
 *
 * @param headers as in `headers` of node:http, which joins the values of a repeated header with commas
 */
export function readCredentials(
  service: Pick<Service, 'names'>,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Credentials | null {
  const names = headersOf(service);
  const clientId = headers[names.clientId];
  const apiKey = headers[names.apiKey];
  const organizationId = headers[names.organizationId];
  if (!isValue(clientId) || !isValue(apiKey) || !isValue(organizationId)) return null;
  return { clientId, apiKey, organizationId };
}

function isValue(value: string | string[] | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxCharacters;
}

/** Whether each of the values can be a credential: none is repeated. */
export function areWellFormed({ clientId, apiKey, organizationId }: Credentials): boolean {
  return wellFormed.test(clientId) && wellFormed.test(apiKey) && wellFormed.test(organizationId);
}
