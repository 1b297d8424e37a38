import type { ErrorCode } from '@deedwire/lender-schema/2026-11-01';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { MembersDocument } from './generated/operations.ts';

export interface Credentials {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

interface ResponseBody<Data> {
  data?: Data | null;
  errors?: { message: string; extensions: { code: ErrorCode; requestId: string } }[];
}

/** Returns one line for each member of your lender. */
export async function listMembers(endpoint: string, credentials: Credentials): Promise<string[]> {
  const { lender } = await request(endpoint, credentials, MembersDocument, {});
  return lender.members.map(({ firstName, lastName, email }) => `${firstName} ${lastName} <${email}>`);
}

async function request<Data, Variables>(
  endpoint: string,
  credentials: Credentials,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      'x-service-client-id': credentials.clientId,
      'x-service-api-key': credentials.apiKey,
      'x-service-organization-id': credentials.organizationId,
      'x-service-schema-version': '2026-11-01',
    },
    body: JSON.stringify({ query: print(document), variables }),
  });
  const { data, errors } = (await response.json()) as ResponseBody<Data>;
  const [error] = errors ?? [];
  if (error) throw new Error(`${error.extensions.code}: ${error.message} (request ${error.extensions.requestId})`);
  if (!data) throw new Error(`HTTP status ${response.status} without data`);
  return data;
}
