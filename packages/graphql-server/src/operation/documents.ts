import { hash } from 'node:crypto';
import type { DocumentLimits } from '@deedwire/operation-analysis';
import { type DocumentNode, type GraphQLError, type GraphQLSchema, Location } from 'graphql';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../errors/request-error.ts';
import {
  createDocumentSteps,
  type DocumentSteps,
  invalidDocument,
  RejectedDocumentError,
  type Rejection,
} from './read-document.ts';

/** The documents of one schema. Each step runs once for a document, as long as its result is cached: also if it fails. */
export interface Documents extends DocumentSteps {
  /** Returns the document that a text was read as, if it is valid and cached. */
  find(query: string): DocumentNode | undefined;
  /** SHA-256 of the text of a document that was parsed here, in hexadecimal digits. Calculated once for each. */
  hashOf(document: DocumentNode): string | undefined;
  /** An estimate of the memory of the cached results. At most the sum of `maxBytes`. */
  readonly bytes: number;
}

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

/** @param onParsed called for each text that was parsed because it was not cached. Must not throw. */
export function createDocuments(
  schema: GraphQLSchema,
  limits: DocumentLimits,
  onParsed: (isValid: boolean) => void,
  steps = createDocumentSteps(schema, limits),
): Documents {
  const valid = createCache(maxBytes.valid, sizeOfDocument);
  const rejected = createCache(maxBytes.rejected, sizeOfRejection);
  /** The texts of the documents that were parsed here. A plugin can supply others. */
  const texts = new WeakMap<DocumentNode, string>();
  const hashes = new WeakMap<DocumentNode, string>();
  const validated = new WeakSet<DocumentNode>();

  function reject(query: string, { code, message, found }: Rejection): void {
    rejected.add(keyOf(query), { code, message, found });
    onParsed(false);
  }

  /** Runs a step. Remembers why it rejects a document. */
  function attempt<Result>(query: string | undefined, step: () => Result): Result {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (query !== undefined) reject(query, error);
      throw new RejectedDocumentError(error);
    }
  }

  return {
    find: (query) => valid.get(query),
    parse(query) {
      const known = valid.get(query);
      if (known) return known;
      const rejection = rejected.get(keyOf(query));
      if (rejection) throw new RejectedDocumentError(rejection, false);
      const document = attempt(query, () => withFixedNodes(steps.parse(query)));
      texts.set(document, query);
      return document;
    },
    validate(document): readonly GraphQLError[] {
      if (validated.has(document)) return [];
      const query = texts.get(document);
      const errors = attempt(query, () => steps.validate(document));
      if (errors.length === 0) {
        validated.add(document);
        if (query === undefined) return errors;
        valid.add(query, document);
        onParsed(true);
      } else if (query !== undefined) {
        reject(query, invalidDocument(errors));
      }
      return errors;
    },
    hashOf(document) {
      const known = hashes.get(document);
      const text = texts.get(document);
      if (known !== undefined || text === undefined) return known;
      const calculated = hash('sha256', text);
      hashes.set(document, calculated);
      return calculated;
    },
    get bytes() {
      return valid.bytes() + rejected.bytes();
    },
  };
}

/**
 * Entries that were never read compete only with each other, for a quarter of the bytes, so that a client that sends a new document
 * with each request cannot displace the documents that clients send repeatedly.
 */
function createCache<Value extends object>(bytes: number, sizeCalculation: (value: Value, key: string) => number) {
  const fresh = new LRUCache<string, Value>({ maxSize: bytes / 4, sizeCalculation });
  const used = new LRUCache<string, Value>({ maxSize: (bytes / 4) * 3, sizeCalculation });
  return {
    get(key: string): Value | undefined {
      const known = used.get(key);
      if (known) return known;
      const first = fresh.get(key);
      if (first && fresh.delete(key)) used.set(key, first);
      return first;
    },
    add(key: string, value: Value): void {
      if (!used.has(key)) fresh.set(key, value);
    },
    bytes: (): number => fresh.calculatedSize + used.calculatedSize,
  };
}

/**
 * Freezes the nodes of a document. Other requests get the same ones, validated, so a plugin has to replace what it changes. It
 * can add properties to the document itself.
 */
function withFixedNodes(document: DocumentNode): DocumentNode {
  freeze(document.definitions);
  return Object.defineProperty(document, 'definitions', { writable: false, configurable: false });
}

function freeze(value: unknown): void {
  // Places are written when they are read.
  if (typeof value !== 'object' || value === null || value instanceof Location) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

/** Of a rejected document, whose text is not kept. */
function keyOf(query: string): string {
  return hash('sha256', query, 'base64');
}

function sizeOfDocument({ tokenCount = 0 }: DocumentNode, query: string): number {
  return bytesPer.entry + query.length * bytesPer.character + tokenCount * bytesPer.token;
}

function sizeOfRejection({ message, found }: Rejection): number {
  return bytesPer.entry + (message.length + JSON.stringify(found).length) * bytesPer.character;
}
