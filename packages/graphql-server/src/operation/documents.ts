import { hash } from 'node:crypto';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { ErrorCode } from '../errors/error-table.ts';
import type { FoundError } from '../errors/found-error.ts';
import { RequestError } from '../errors/request-error.ts';
import { createByteCache } from './byte-cache.ts';
import type { DocumentLimits } from './document-limits.ts';
import { type DocumentPipeline, readDocument } from './read-document.ts';

/** The documents of one schema. */
export interface Documents {
  /** Returns a document that was read before, if it is valid and cached. */
  find(query: string): DocumentNode | undefined;
  /**
   * Reads a document only once, as long as the result is cached: also the errors of a document that is rejected.
   *
   * @param pipeline called only to read the document
   */
  read(query: string, pipeline: () => DocumentPipeline): Reading;
  /** An estimate of the memory of the cached results. At most the sum of `maxBytes`. */
  readonly bytes: number;
}

/** `isNew`: the document was not cached, so that it was parsed. */
export type Reading =
  | { isValid: true; isNew: boolean; document: DocumentNode }
  | { isValid: false; isNew: boolean; error: RequestError };

/** For each schema. The rejected documents have their own cache, so that they do not displace valid ones. */
const maxBytes = { valid: 16_000_000, rejected: 1_000_000 };

/** Upper bounds of the memory that a parsed document takes, measured. */
const bytesPer = {
  /** The maximum is reached in strings with escapes, which consist of many pieces. Usually 1. */
  character: 6,
  /** With its nodes. */
  token: 450,
  /** A cache entry with its key. */
  entry: 300,
};

/** A RequestError without its stack. */
interface Rejection {
  code: ErrorCode;
  message: string;
  found: readonly FoundError[];
}

export function createDocuments(schema: GraphQLSchema, limits: DocumentLimits): Documents {
  const valid = createByteCache<DocumentNode>(maxBytes.valid);
  const rejected = createByteCache<Rejection>(maxBytes.rejected);

  return {
    find: (query) => valid.get(query),
    read(query, pipeline) {
      const known = valid.get(query);
      if (known) return { isValid: true, isNew: false, document: known };
      const key = hash('sha256', query, 'base64');
      const rejection = rejected.get(key);
      if (rejection) return { isValid: false, isNew: false, error: new RequestError(rejection.code, rejection) };
      try {
        const document = readDocument(schema, query, limits, pipeline());
        valid.set(query, document, sizeOfDocument(query, document));
        return { isValid: true, isNew: true, document };
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const { code, message, found } = error;
        rejected.set(key, { code, message, found }, sizeOfRejection(message, found));
        return { isValid: false, isNew: true, error };
      }
    },
    get bytes() {
      return valid.bytes + rejected.bytes;
    },
  };
}

function sizeOfDocument(query: string, { tokenCount = 0 }: DocumentNode): number {
  return bytesPer.entry + query.length * bytesPer.character + tokenCount * bytesPer.token;
}

function sizeOfRejection(message: string, found: readonly FoundError[]): number {
  return bytesPer.entry + (message.length + JSON.stringify(found).length) * bytesPer.character;
}
