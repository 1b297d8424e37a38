import {
  type DocumentNode,
  GraphQLError,
  OverlappingFieldsCanBeMergedRule,
  type parse,
  Source,
  specifiedRules,
  type GraphQLSchema,
  validate,
  type ValidationRule,
} from 'graphql';
import { describeFoundError, type FoundError } from '../errors/found-error.ts';
import { RequestError } from '../errors/request-error.ts';
import { checkDocument, checkTokens, type DocumentLimits } from './document-limits.ts';
import { checkMergeableFields } from './mergeable-fields.ts';
import { StorableTextRule } from './storable-text-rule.ts';
import { withoutComments } from './without-comments.ts';

/** The functions of the plugin pipeline that a document passes. */
export interface DocumentPipeline {
  parse: typeof parse;
  /** `validateDocument`, with what plugins add to it. */
  validate: (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];
}

/** Our rule and graphql's rules, except one that takes quadratic time. `checkMergeableFields` replaces it. */
const rules: readonly ValidationRule[] = [
  ...specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule),
  StorableTextRule,
];

/**
 * The maximum number of errors per document. An error costs up to 0.3 ms: it has a stack, and can print a large literal.
 */
const maxErrors = 10;

/** The maximum number of visited selections. Real documents are far below it: a full introspection query has about 300. */
const maxVisits = 10_000;

/**
 * Parses and validates a document. Parsing stops at the token limit, and validation does not begin for a document that
 * exceeds another limit.
 *
 * @throws {RequestError} if the document is invalid or exceeds a limit.
 */
export function readDocument(
  schema: GraphQLSchema,
  query: string,
  limits: DocumentLimits,
  pipeline: DocumentPipeline,
): DocumentNode {
  const source = new Source(withoutComments(query));
  try {
    const document = parseDocument(source, limits, pipeline.parse);
    checkDocument(document, limits);
    const errors = withoutText(source, () => pipeline.validate(schema, document));
    if (errors.length === 0) return document;
    const found: FoundError[] = errors.slice(0, maxErrors).map(describeFoundError);
    if (errors.length > maxErrors) found.push({ message: `The document has more than these ${maxErrors} errors.` });
    throw new RequestError('GRAPHQL_VALIDATION_FAILED', { found });
  } catch (error) {
    // The parser is recursive: a document of opening brackets only can overflow the stack.
    if (error instanceof RangeError) throw new RequestError('OPERATION_TOO_COMPLEX', { cause: error });
    throw error;
  }
}

function parseDocument(source: Source, limits: DocumentLimits, parseSource: DocumentPipeline['parse']): DocumentNode {
  try {
    return parseSource(source, { maxTokens: limits.queryTokens });
  } catch (error) {
    checkTokens(source.body, limits);
    if (error instanceof GraphQLError)
      throw new RequestError('GRAPHQL_PARSE_FAILED', { found: [describeFoundError(error)] });
    throw error;
  }
}

/**
 * Does the same as graphql's `validate` with its rules and ours, but in bounded time. Returns at most 11 errors.
 *
 * @throws {RequestError} if the document selects too many fields.
 */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const errors = validate(schema, document, rules, { maxErrors });
  // Fragments in a cycle and unknown types end here, so that the check below does not meet them.
  return errors.length > 0 ? errors : checkMergeableFields(schema, document, { maxVisits, maxErrors }).errors;
}

/**
 * Every GraphQLError counts the lines of the source up to each of its nodes. In a document of 100 kB with as many lines,
 * 100 errors take more than 100 ms. Without the text there is nothing to count; `describeFoundError` reads the places from
 * the tokens.
 */
function withoutText<Result>(source: Source, run: () => Result): Result {
  const text = source.body;
  source.body = '';
  try {
    return run();
  } finally {
    source.body = text;
  }
}
