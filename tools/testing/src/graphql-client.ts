import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';

/** What the three credential headers carry. */
export interface Credential {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

export interface GraphqlError {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; requestId: string; documentationUrl: string };
}

/** An answer, with what came around it. */
export interface Answer<Data> {
  status: number;
  headers: Headers;
  data: Data | null | undefined;
  errors: GraphqlError[];
}

/** Sends the operations of one consumer. */
export interface Client {
  send<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Answer<Data>>;
  /** As `send`; anything but complete data is an error. */
  request<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data>;
}

export function credentialHeaders(credential: Credential): Record<string, string> {
  return {
    'X-Service-Client-Id': credential.clientId,
    'X-Service-API-Key': credential.apiKey,
    'X-Service-Organization-Id': credential.organizationId,
  };
}

/**
 * @param url of the interface, path included
 * @param headers further ones, with each request
 */
export function createClient(url: string, credential: Credential, headers: Record<string, string> = {}): Client {
  const send: Client['send'] = async (document, variables) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...credentialHeaders(credential), ...headers },
      body: JSON.stringify({ query: print(document), variables }),
    });
    const { data, errors = [] } = await response.json();
    return { status: response.status, headers: response.headers, data, errors };
  };
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
