import type { GraphQLParams } from 'graphql-yoga';
import { RequestError } from '../errors/request-error.ts';

/**
 * Parses the body of a request.
 *
 * @throws {RequestError} if the body is not a GraphQL request.
 */
export function parseParameters(body: string): GraphQLParams {
  return readParameters(parseMembers(body));
}

/**
 * @param needed what an empty body lacks
 * @throws {RequestError} if the body is not a JSON object.
 */
export function parseMembers(body: string, needed = 'query'): Record<string, unknown> {
  const value = parseJson(body, needed);
  if (Array.isArray(value)) throw bad('The body is a JSON array. Batches are not supported: send one JSON object.');
  if (!isObject(value)) throw bad('The body must be a JSON object.');
  return value;
}

/**
 * Reads the parameters from the members of an object. Ignores unknown members. Only plugins accept that `query` is missing.
 *
 * @throws {RequestError} if a member has the wrong type, or a variable cannot be stored.
 */
export function readParameters(members: Readonly<Record<string, unknown>>): GraphQLParams {
  const { query = null, variables = null, operationName = null, extensions = null } = members;
  if (query !== null && (typeof query !== 'string' || query.trim() === '')) throw noQuery();
  if (variables !== null && !isObject(variables)) throw notObject('variables', variables);
  if (operationName !== null && typeof operationName !== 'string')
    throw bad('"operationName" must be a string or null.');
  if (extensions !== null && !isObject(extensions)) throw notObject('extensions', extensions);
  if (variables !== null) checkValues('variables', variables);
  if (extensions !== null) checkValues('extensions', extensions);
  return {
    ...(query !== null && { query }),
    variables: variables ?? {},
    // Clients whose texts are never null send an empty one for no name, which GraphQL over HTTP allows.
    ...(operationName !== null && operationName !== '' && { operationName }),
    ...(extensions !== null && { extensions }),
  };
}

/** @throws {RequestError} if there is no query. */
export function requireQuery({ query, extensions }: GraphQLParams): string {
  if (typeof query === 'string') return query;
  // The probe of a client with automatic persisted queries, which sends the document after exactly this error.
  throw isObject(extensions?.['persistedQuery']) ? new RequestError('PERSISTED_QUERY_NOT_SUPPORTED') : noQuery();
}

function noQuery(): RequestError {
  return bad('"query" must be a string with a GraphQL document.');
}

function parseJson(body: string, needed: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    if (body.trim() === '') throw bad(`The body is empty. Send a JSON object with a "${needed}".`);
    throw bad('The body is not valid JSON.'); // the parser's own message would repeat parts of the body
  }
}

/**
 * Each error that graphql finds in a variable prints the whole variable, and requests that wait for their response keep their
 * extensions: a list of empty objects takes 20 times the bytes of its body. No input type of the interfaces has as many.
 */
const maxValues = 2000;

function checkValues(where: 'variables' | 'extensions', members: Record<string, unknown>): void {
  const rest: unknown[] = [members];
  let values = 0;
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === 'string') checkText(where, value);
    if (typeof value !== 'object' || value === null) continue;
    // Counted first: a list of entries takes several times as long as the body took to parse.
    values += sizeOf(value);
    if (values > maxValues) throw tooManyValues(where);
    for (const [key, member] of Object.entries(value)) {
      checkText(where, key);
      rest.push(member);
    }
  }
}

/** Only variables are stored. PostgreSQL cannot store U+0000, and UTF-8 cannot encode an unpaired surrogate. */
function checkText(where: string, text: string): void {
  if (where === 'extensions' || isStorable(text)) return;
  const message = 'A variable contains U+0000 or an unpaired surrogate. Remove it.';
  throw new RequestError('BAD_USER_INPUT', { message });
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

function tooManyValues(where: string): RequestError {
  const allowed = maxValues.toLocaleString('en');
  const message = `The ${where} contain more than ${allowed} values, counting the items of lists and the members of objects. Send fewer.`;
  return new RequestError('BAD_USER_INPUT', { message });
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notObject(name: string, found: unknown): RequestError {
  return bad(`"${name}" must be an object or null, ${remedyFor(found)}`);
}

function remedyFor(found: unknown): string {
  if (!Array.isArray(found)) return `not a ${typeof found}. Send the object itself, not its JSON text.`;
  if (found.length > 0) return 'not an array. Name each value, as in {"first": 10}.';
  return 'not an array. Send {} or null instead of []. In PHP, cast an empty array to (object).';
}

function bad(message: string): RequestError {
  return new RequestError('BAD_REQUEST', { message });
}
