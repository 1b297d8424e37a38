import {
  checkDocument,
  checkMergeableFields,
  checkTokens,
  type DocumentLimits,
  OperationTooComplexError,
} from '@deedwire/operation-analysis';
import {
  type DocumentNode,
  GraphQLError,
  OverlappingFieldsCanBeMergedRule,
  parse,
  Source,
  specifiedRules,
  type GraphQLSchema,
  validate,
  type ValidationRule,
} from 'graphql';
import { errorTable } from '../errors/error-table.ts';
import { describeFoundError, type FoundError } from '../errors/found-error.ts';
import { mapError } from '../errors/map-error.ts';
import { RequestError } from '../errors/request-error.ts';
import { isStorable } from '../transport/parameters.ts';

/** The two steps of reading a document. */
export interface DocumentSteps {
  /** @throws {RequestError} if the text is not a document, or has too many tokens. */
  parse: (query: string) => DocumentNode;
  /**
   * Returns the errors of an invalid document, at most 11, in bounded time.
   *
   * @throws {RequestError} if the document exceeds a limit.
   */
  validate: (document: DocumentNode) => readonly GraphQLError[];
}

/** The document itself is rejected, whatever its variables are. */
export class RejectedDocumentError extends RequestError {
  /** False if it was rejected before, so that its errors come from a cache. */
  readonly isNew: boolean;

  constructor({ code, message, found, cause }: Rejection, isNew = true) {
    super(code, { message, found, cause });
    this.isNew = isNew;
  }
}

/** A RejectedDocumentError without its stack. */
export type Rejection = Pick<RequestError, 'code' | 'message' | 'found'> & { cause?: unknown };

/** Applies to literals the check that `parseParameters` applies to variables. */
const StorableTextRule: ValidationRule = (context) => ({
  StringValue(node) {
    if (!isStorable(node.value))
      context.reportError(new GraphQLError('A string contains U+0000. Remove it.', { nodes: node }));
  },
});

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

/** Has at most 10 errors, and says if there are more. */
export function invalidDocument(errors: readonly GraphQLError[]): RejectedDocumentError {
  const found: FoundError[] = errors.slice(0, maxErrors).map(describeFoundError);
  if (errors.length > maxErrors) found.push({ message: `The document has more than these ${maxErrors} errors.` });
  return new RejectedDocumentError({
    code: 'GRAPHQL_VALIDATION_FAILED',
    message: errorTable.GRAPHQL_VALIDATION_FAILED.message,
    found,
  });
}

/**
 * The steps without a cache. Parsing stops at the token limit, and validation by graphql's rules and ours begins after all limits.
 *
 * A document has no text: every GraphQLError counts the lines of the text up to each of its nodes, in validation and in execution.
 * In a document of 100 kB with as many lines, 100 errors take more than 100 ms. Places are read from the tokens.
 */
export function createDocumentSteps(schema: GraphQLSchema, limits: DocumentLimits): DocumentSteps {
  return {
    parse(query) {
      const source = new Source(withoutComments(query));
      return withinLimits(() => {
        try {
          const document = parse(source, { maxTokens: limits.queryTokens });
          source.body = '';
          return document;
        } catch (error) {
          checkTokens(source.body, limits);
          if (!(error instanceof GraphQLError)) throw error;
          throw new RequestError('GRAPHQL_PARSE_FAILED', { found: [describeFoundError(error)] });
        }
      });
    },
    validate(document) {
      return withinLimits(() => {
        checkDocument(document, limits);
        const errors = validate(schema, document, rules, { maxErrors });
        // Fragments in a cycle and unknown types end here, so that the check below does not meet them.
        return errors.length > 0 ? errors : checkMergeableFields(schema, document, { maxVisits, maxErrors }).errors;
      });
    },
  };
}

/** Both steps are recursive: a document of opening brackets only can overflow the stack. */
function withinLimits<Result>(step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    if (error instanceof RangeError) throw new RequestError('OPERATION_TOO_COMPLEX', { cause: error });
    throw error instanceof OperationTooComplexError ? mapError(error) : error;
  }
}

/** The errors of rules that a plugin adds. */
export function validateRules(
  schema: GraphQLSchema,
  document: DocumentNode,
  added: readonly ValidationRule[],
): readonly GraphQLError[] {
  return added.length === 0 ? [] : validate(schema, document, added, { maxErrors });
}

const stringOrComment = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*/g;

/**
 * Replaces each comment of a document by a space. Every other token keeps its line and its column, because a comment is the
 * last of its line. The space keeps a carriage return before the comment apart from a line feed after it.
 *
 * The lexer creates a token for each comment, which does not count for the token limit: 100 kB of comments take 4 MB of
 * memory and up to 60 ms of CPU.
 */
export function withoutComments(query: string): string {
  if (!query.includes('#')) return query;
  return query.replace(stringOrComment, (text) => (text.startsWith('#') ? ' ' : text));
}
