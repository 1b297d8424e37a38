import type { DevAccount } from '../dev-state.ts';
import { layoutGraphqlRequest, layoutGraphqlResponse } from './layout.ts';
import { bodyWidth, expectThat, show } from './narrator.ts';

export interface GraphqlResponse {
  status: number;
  data: Record<string, unknown>;
  errors: { extensions: { code: string } }[];
}

type Credential = DevAccount['credential'];

/** The clients whose credentials were printed. */
const clientsShown = new Set<string>();

function credentialHeaders({ clientId, apiKey, organizationId }: Credential): Record<string, string> {
  return {
    'X-Service-Client-Id': clientId,
    'X-Service-API-Key': apiKey,
    'X-Service-Organization-Id': organizationId,
  };
}

/** Sends a GraphQL document as an API client does. Prints nothing. */
export async function sendGraphql(
  url: string,
  credential: Credential,
  query: string,
  variables?: Record<string, unknown>,
): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...credentialHeaders(credential) },
    body: JSON.stringify({ query, variables }),
  });
  return { response, text: await response.text() };
}

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
  const { response, text } = await sendGraphql(url, credential, query, variables);
  const version = response.headers.get('x-service-schema-version');
  const schema = version === null ? '' : `, x-service-schema-version: ${version}`;
  show('←', `${response.status} ${response.statusText}${schema}`, {}, layoutGraphqlResponse(text, bodyWidth()));
  expectThat('the response is JSON', response.headers.get('content-type')?.includes('json') ?? false);
  const { data, errors }: Partial<GraphqlResponse> = JSON.parse(text);
  return { status: response.status, data: data ?? {}, errors: errors ?? [] };
}
