import type { ErrorCode } from '@deedwire/lender-schema/2026-11-01';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';

/** The URL and the credential of one interface of the service. */
export interface Interface {
  url: string;
  credential: { clientId: string; apiKey: string; organizationId: string };
}

interface GraphqlResponse<Data> {
  data?: Data | null;
  errors?: { message: string; extensions: { code: ErrorCode } }[];
}

/**
 * Sends an operation at a pinned version.
 *
 * @throws {Error} if the response has errors or no data, or if another version served it
 */
export async function send<Data, Variables>(
  { url, credential }: Interface,
  version: string,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-client-id': credential.clientId,
      'x-service-api-key': credential.apiKey,
      'x-service-organization-id': credential.organizationId,
      'x-service-schema-version': version,
    },
    body: JSON.stringify({ query: print(document), variables }),
  });
  const { data, errors = [] }: GraphqlResponse<Data> = await response.json();
  if (!data || errors.length > 0) throw new Error(`HTTP ${response.status}: ${JSON.stringify(errors)}`);
  const served = response.headers.get('x-service-schema-version');
  if (served !== version) throw new Error(`Expected version ${version} in the response, found ${served}.`);
  return data;
}
