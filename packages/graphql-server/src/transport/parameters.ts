import { RequestError } from '../errors/request-error.ts';

/** The parameters of a GraphQL request. Unknown members of the body are ignored. */
export interface Parameters {
  query: string;
  variables: Record<string, unknown>;
  operationName: string | null;
}

/**
 * Parses the body of a request.
 *
 * @throws {RequestError} if the body is not a GraphQL request.
 */
export function parseParameters(body: string): Parameters {
  if (body.trim() === '') throw bad('The body is empty. Send a JSON object with a "query".');
  const value = parseJson(body);
  if (Array.isArray(value)) throw bad('The body is a JSON array. Batches are not supported: send one JSON object.');
  if (!isObject(value)) throw bad('The body must be a JSON object.');

  const { query, variables = null, operationName = null, extensions = null } = value;
  if (typeof query !== 'string' || query.trim() === '') throw bad('"query" must be a string with a GraphQL document.');
  if (variables !== null && !isObject(variables)) throw bad('"variables" must be an object or null.');
  if (operationName !== null && typeof operationName !== 'string')
    throw bad('"operationName" must be a string or null.');
  if (extensions !== null && !isObject(extensions)) throw bad('"extensions" must be an object or null.');
  if (variables !== null && !isText(variables)) {
    throw new RequestError('BAD_USER_INPUT', {
      message: 'A variable contains U+0000 or an unpaired surrogate. Remove it.',
    });
  }
  return { query, variables: variables ?? {}, operationName };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw bad('The body is not valid JSON.'); // the parser's own message would repeat parts of the body
  }
}

/** PostgreSQL cannot store U+0000, and UTF-8 cannot encode an unpaired surrogate. */
function isText(root: unknown): boolean {
  const rest = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string' && !isStorable(value)) return false;
    if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (!isStorable(key)) return false;
        rest.push(member);
      }
    }
  }
  return true;
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(message: string): RequestError {
  return new RequestError('BAD_REQUEST', { message });
}
