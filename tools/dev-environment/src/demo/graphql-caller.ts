import { type Credential, credentialHeaders } from '@deedwire/testing';
import { layoutGraphqlRequest, layoutGraphqlResponse } from './layout.ts';
import { bodyWidth, expectThat, show } from './narrator.ts';

export interface GraphqlResponse {
  status: number;
  data: Record<string, unknown>;
  errors: { extensions: { code: string } }[];
}

/** The clients whose credentials were printed. */
const clientsShown = new Set<string>();

/**
 * Sends a GraphQL document and prints the request and the response. The first request of a client shows its credentials, later
 * ones only its id.
 */
export async function callGraphql(
  url: string,
  credential: Credential,
  query: string,
  variables?: Record<string, unknown>,
): Promise<GraphqlResponse> {
  const isFirst = !clientsShown.has(credential.clientId);
  clientsShown.add(credential.clientId);
  const shownHeaders = isFirst ? credentialHeaders(credential) : { 'X-Service-Client-Id': credential.clientId };
  show('→', `POST ${url}`, shownHeaders, layoutGraphqlRequest(query, variables, bodyWidth()));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...credentialHeaders(credential) },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  const version = response.headers.get('x-service-schema-version');
  const schema = version === null ? '' : `, x-service-schema-version: ${version}`;
  show('←', `${response.status} ${response.statusText}${schema}`, {}, layoutGraphqlResponse(text, bodyWidth()));
  expectThat('the response is JSON', response.headers.get('content-type')?.includes('json') ?? false);
  const { data, errors }: Partial<GraphqlResponse> = JSON.parse(text);
  return { status: response.status, data: data ?? {}, errors: errors ?? [] };
}
