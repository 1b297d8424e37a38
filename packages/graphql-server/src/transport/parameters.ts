import { RequestError } from '../errors/request-error.ts';

/** What a GraphQL request asks for. Members that we do not know are ignored. */
export interface Parameters {
  query: string;
  variables: Record<string, unknown>;
  operationName: string | null;
}

/** Reads the body. @throws {RequestError} */
export function parseParameters(body: string): Parameters {
  if (body.trim() === '') throw bad('The body is empty.');
  const value = parseJson(body);
  if (Array.isArray(value)) throw bad('The body must be one request: batches are not supported.');
  if (!isObject(value)) throw bad('The body must be a JSON object.');

  const { query, variables = null, operationName = null, extensions = null } = value;
  if (typeof query !== 'string' || query.trim() === '') throw bad('"query" must be a GraphQL document as a string.');
  if (variables !== null && !isObject(variables)) throw bad('"variables" must be an object or null.');
  if (operationName !== null && typeof operationName !== 'string')
    throw bad('"operationName" must be a string or null.');
  if (extensions !== null && !isObject(extensions)) throw bad('"extensions" must be an object or null.');
  if (variables !== null && !isText(variables)) {
    throw new RequestError('BAD_USER_INPUT', { message: 'A variable holds U+0000 or half of a surrogate pair.' });
  }
  return { query, variables: variables ?? {}, operationName };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw bad('The body is not JSON.'); // the parser's own message repeats parts of the body
  }
}

/** Whether every string inside can be stored as it is: PostgreSQL takes no U+0000, and UTF-8 no half of a pair. */
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
