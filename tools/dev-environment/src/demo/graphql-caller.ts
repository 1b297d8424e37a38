import type { DevAccount } from '../dev-state.ts';
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
 * Sends a GraphQL document as an API client does. Prints the request and the response. The first request of a client
 * shows its credentials, later ones only its id.
 */
export async function callGraphql(
  url: string,
  credential: DevAccount['credential'],
  query: string,
  variables?: Record<string, unknown>,
): Promise<GraphqlResponse> {
  const credentials = {
    'X-Service-Client-Id': credential.clientId,
    'X-Service-API-Key': credential.apiKey,
    'X-Service-Organization-Id': credential.organizationId,
  };
  const isFirst = !clientsShown.has(credential.clientId);
  clientsShown.add(credential.clientId);
  const shownHeaders = isFirst ? credentials : { 'X-Service-Client-Id': credential.clientId };
  show('→', `POST ${url}`, shownHeaders, layoutGraphqlRequest(query, variables, bodyWidth()));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...credentials },
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
