import { getIntrospectionQuery } from 'graphql';
import { errorMessage } from '../error-fields.ts';
import { InputError } from '../input-error.ts';
import { decodeSourceText, type SourceText } from '../text-file.ts';

const timeoutMs = 30_000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads the response to a GET request.
 *
 * @throws {InputError} when the server cannot be reached or responds with an error.
 */
export async function readUrl(url: string): Promise<SourceText> {
  const { ok, status, text } = await request(url);
  if (!ok) throw new InputError(url, null, `the server answered ${status}`);
  return { file: url, text };
}

/**
 * Reads a GraphQL schema: the response to a GET request or, if that is an error or a web page, the response to an
 * introspection query.
 *
 * @throws {InputError} when the server cannot be reached or has no schema.
 */
export async function readServedSchema(url: string): Promise<SourceText> {
  const page = await request(url);
  if (page.ok && !page.isHtml) return { file: url, text: page.text };
  const problems = [];
  // A server of an older specification rejects the fields of a newer one.
  for (const withNewFields of [true, false]) {
    const { ok, status, text } = await request(url, introspectionRequest(withNewFields));
    if (ok && text.includes('"__schema"')) return { file: url, text };
    problems.push(`${status} (${text.slice(0, 200).replaceAll(/\s+/g, ' ').trim()})`);
  }
  throw new InputError(
    url,
    null,
    `the server answered ${page.status} to a GET request, and ${problems.at(-1)} to an introspection query. Pass the URL of a schema, or of a GraphQL server that allows introspection.`,
  );
}

function introspectionRequest(withNewFields: boolean): RequestInit {
  const query = getIntrospectionQuery({
    specifiedByUrl: withNewFields,
    directiveIsRepeatable: withNewFields,
    schemaDescription: withNewFields,
    inputValueDeprecation: withNewFields,
    oneOf: withNewFields,
  });
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json' },
    body: JSON.stringify({ query, operationName: 'IntrospectionQuery' }),
  };
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly isHtml: boolean;
  readonly text: string;
}

async function request(url: string, options: RequestInit = {}): Promise<Answer> {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMs) });
    const isHtml = /^text\/html\b/.test(response.headers.get('content-type') ?? '');
    const text = decodeSourceText(url, await readBody(url, response));
    return { ok: response.ok, status: response.status, isHtml, text };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const cause: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'cause') : undefined;
    const reason = errorMessage(cause ?? error);
    throw new InputError(url, null, `cannot be fetched (${reason})`, { cause: error });
  }
}

async function readBody(url: string, { body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new InputError(url, null, `is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
