import type { DevAccount } from '../dev-state.ts';
import { expectThat, show } from './narrator.ts';

export interface GraphqlResponse {
  status: number;
  data: Record<string, unknown>;
  errors: { extensions: { code: string } }[];
}

const shownHeaders = ['content-type', 'cache-control', 'x-request-id', 'x-service-schema-version', 'www-authenticate'];

/** Sends a GraphQL document as an API client does. Prints the request and the response. */
export async function callGraphql(
  url: string,
  credential: DevAccount['credential'],
  query: string,
  variables?: Record<string, unknown>,
): Promise<GraphqlResponse> {
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Client-Id': credential.clientId,
    'X-Service-API-Key': credential.apiKey,
    'X-Service-Organization-Id': credential.organizationId,
  };
  const body = JSON.stringify({ query, variables });
  show('→', `POST ${url}`, headers, body);
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  const received = Object.fromEntries([...response.headers].filter(([name]) => shownHeaders.includes(name)));
  show('←', `${response.status} ${response.statusText}`, received, text);
  expectThat('the response is JSON', response.headers.get('content-type')?.includes('json') ?? false);
  const { data, errors }: Partial<GraphqlResponse> = JSON.parse(text);
  return { status: response.status, data: data ?? {}, errors: errors ?? [] };
}
