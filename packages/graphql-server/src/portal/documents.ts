import { hash } from 'node:crypto';
import type { InterfaceName } from '@deedwire/core';
import { parse, validate } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { z } from 'zod';
import { RequestError } from '../errors/request-error.ts';
import { parseMembers, readParameters } from '../transport/parameters.ts';
import type { InterfaceVersion } from '../versions/serve-contract.ts';

const built = z.object({ documents: z.record(z.string(), z.string()) });

/** The operations of the pages. Sessions send no other ones. */
export interface PortalDocuments {
  /** The current version of the interface. */
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
 * @throws {Error} if the interface has no current version, or a document does not match its schema
 */
export function readDocuments(
  json: string,
  interfaceName: InterfaceName,
  versions: readonly InterfaceVersion[],
): PortalDocuments {
  const { documents } = built.parse(JSON.parse(json));
  const current = versions.findLast(({ status }) => status === 'current');
  if (current === undefined) throw new Error(`The ${interfaceName} interface has no current version for the portal.`);
  const known = new Map<unknown, string>();
  for (const [id, query] of Object.entries(documents)) {
    if (hash('sha256', query) !== id) throw new Error(`The document ${id} of the portal has another hash.`);
    const [error] = validate(current.schema, parse(query));
    if (error) throw error;
    known.set(id, query);
  }

  return {
    version: current.version,
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
