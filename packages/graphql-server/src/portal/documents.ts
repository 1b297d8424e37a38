import { hash } from 'node:crypto';
import type { InterfaceName } from '@deedwire/core';
import { type GraphQLSchema, parse, validate } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { z } from 'zod';
import { RequestError } from '../errors/request-error.ts';
import { parseMembers, readParameters } from '../transport/parameters.ts';

const built = z.object({
  versions: z.record(z.string(), z.string()),
  documents: z.record(z.string(), z.string()),
});

/** The operations of the pages. Sessions send no other ones. */
export interface PortalDocuments {
  /** The version of the interface for which the pages were built. */
  version: string;
  /**
   * Reads the parameters of a request, `{ "documentId", "variables" }`.
   *
   * @throws {RequestError} if there is no such document
   */
  parseParameters(body: string): GraphQLParams;
}

/**
 * Reads what the build of the pages wrote.
 *
 * @param schemaOf undefined for a version that is not served
 * @throws {Error} if a document does not match the served schema
 */
export function readDocuments(
  json: string,
  interfaceName: InterfaceName,
  schemaOf: (version: string) => GraphQLSchema | undefined,
): PortalDocuments {
  const { versions, documents } = built.parse(JSON.parse(json));
  const version = versions[interfaceName];
  if (version === undefined) throw new Error(`The portal was not built for the ${interfaceName} interface.`);
  const schema = schemaOf(version);
  if (!schema) throw new Error(`The portal was built for version ${version} of the interface, which is not served.`);
  const known = new Map<unknown, string>();
  for (const [id, query] of Object.entries(documents)) {
    if (hash('sha256', query) !== id) throw new Error(`The document ${id} of the portal has another hash.`);
    const [error] = validate(schema, parse(query));
    if (error) throw error;
    known.set(id, query);
  }

  return {
    version,
    parseParameters(body) {
      const { documentId, variables } = parseMembers(body, 'documentId');
      const query = known.get(documentId);
      if (query === undefined) {
        const message = 'The portal has no document with this id. Reload the page.';
        throw new RequestError('NOT_FOUND', { message });
      }
      return readParameters({ query, variables });
    },
  };
}
