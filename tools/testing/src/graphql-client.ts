import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';

/** The values of the three credential headers. */
export interface Credential {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

interface GraphqlError {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; requestId: string; documentationUrl: string };
}

/** `Data` is the type of the selected data. */
export interface GraphqlResponse<Data> {
  status: number;
  headers: Headers;
  body: { data?: Data | null; errors?: GraphqlError[] };
}

interface GraphqlResult<Data> {
  status: number;
  headers: Headers;
  data: Data | null | undefined;
  errors: GraphqlError[];
}

/** Sends typed operations. */
export interface Client {
  send<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<GraphqlResult<Data>>;
  /** Like `send`, but rejects if the response has an error or no data. */
  request<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data>;
}

/** @param prefix what the names of the service's own headers begin with. Defaults to that of the law firm and of the test service */
export function credentialHeaders(credential: Credential, prefix = 'X-Service'): Record<string, string> {
  return {
    [`${prefix}-Client-Id`]: credential.clientId,
    [`${prefix}-API-Key`]: credential.apiKey,
    [`${prefix}-Organization-Id`]: credential.organizationId,
  };
}

interface Operation {
  query: string;
  variables?: unknown;
  /** Sent in addition to the credential headers. */
  headers?: Record<string, string>;
  /** As for `credentialHeaders`. */
  prefix?: string;
}

/**
 * Sends one query.
 *
 * @param url URL of the interface, including its path
 */
export async function postGraphql<Data = Record<string, unknown>>(
  url: string,
  credential: Credential,
  { query, variables = {}, headers = {}, prefix }: Operation,
): Promise<GraphqlResponse<Data>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...credentialHeaders(credential, prefix), ...headers },
    body: JSON.stringify({ query, variables }),
  });
  const body: GraphqlResponse<Data>['body'] = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, body };
}

/**
 * @param url URL of the interface, including its path
 * @param headers sent with each request, in addition to the credential headers
 */
export function createClient(url: string, credential: Credential, headers: Record<string, string> = {}): Client {
  async function send<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<GraphqlResult<Data>> {
    const response = await postGraphql<Data>(url, credential, { query: print(document), variables, headers });
    const { data, errors = [] } = response.body;
    return { status: response.status, headers: response.headers, data, errors };
  }
  return {
    send,
    async request(document, variables) {
      const { status, data, errors } = await send(document, variables);
      if (status !== 200 || errors.length > 0 || data === null || data === undefined) {
        throw new Error(`HTTP ${status}: ${JSON.stringify(errors)}`);
      }
      return data;
    },
  };
}
