import { GraphQLError, getIntrospectionQuery, isExecutableDefinitionNode, parse } from 'graphql';
import { InputError, errorMessage, failAt } from '../input-error.ts';
import { decodeSourceText, type SourceText } from '../text-file.ts';

const timeoutMs = 30_000;
const maxBytes = 64 * 1024 * 1024;

/** Sent with each request, for example with the credentials of the client. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Reads the response to a GET request. */
export async function readUrl(url: string, headers: RequestHeaders = {}): Promise<SourceText> {
  const { ok, status, text } = await request(url, headers);
  if (ok) return { file: url, text };
  failAt(url, `the server answered ${status}.${refusalRemedy(status)}`);
}

/** Reads a GraphQL schema: the response to a GET request or, if that is no schema, the response to an introspection query. */
export async function readServedSchema(url: string, headers: RequestHeaders = {}): Promise<SourceText> {
  const page = await request(url, headers);
  const problem = page.ok ? problemOfSchema(page.text) : '';
  if (problem === null) return { file: url, text: page.text };
  const problems = [];
  // A server of an older specification rejects the fields of a newer one.
  for (const withNewFields of [true, false]) {
    const { ok, status, text } = await request(url, headers, introspectionQuery(withNewFields));
    if (ok && text.includes('"__schema"')) return { file: url, text };
    problems.push({ status, text: text.slice(0, 200).replaceAll(/\s+/g, ' ').trim() });
  }
  const [last = { status: 0, text: '' }] = problems.toReversed();
  failAt(
    url,
    `the server answered ${page.status}${problem === '' ? '' : ` without a schema (${problem})`} to a GET request, and ${last.status} (${last.text}) to an introspection query.${refusalRemedy(last.status) || ' Pass the URL of a schema, or of a GraphQL server that allows introspection.'}`,
  );
}

function refusalRemedy(status: number): string {
  return status === 401 || status === 403
    ? ' It demands credentials: pass --header NAME=VARIABLE with an environment variable that contains them.'
    : '';
}

/** Why a text is neither SDL nor the result of an introspection query. Null if it is. */
function problemOfSchema(text: string): string | null {
  if (text.includes('"__schema"')) return null;
  try {
    const { definitions } = parse(text, { noLocation: true });
    return definitions.every(isExecutableDefinitionNode) ? 'it contains operations' : null;
  } catch (error) {
    return error instanceof GraphQLError ? error.message : String(error);
  }
}

function introspectionQuery(withNewFields: boolean): string {
  return getIntrospectionQuery({
    specifiedByUrl: withNewFields,
    directiveIsRepeatable: withNewFields,
    schemaDescription: withNewFields,
    inputValueDeprecation: withNewFields,
    oneOf: withNewFields,
  });
}

/** @param query sent with POST. By default, the request is a GET. */
async function request(url: string, headers: RequestHeaders, query: string | null = null) {
  const content = { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json' };
  const body = query === null ? null : JSON.stringify({ query, operationName: 'IntrospectionQuery' });
  try {
    const response = await fetch(url, {
      method: query === null ? 'GET' : 'POST',
      body,
      // Much can happen until the next request, and a server closes an idle connection.
      headers: { connection: 'close', ...(query === null ? {} : content), ...headers },
      // Another server must not receive the credentials.
      redirect: Object.keys(headers).length === 0 ? 'follow' : 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return {
      ok: response.ok,
      status: response.status,
      text: decodeSourceText(url, await readBody(url, response)),
    };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const cause: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'cause') : undefined;
    const reason = errorMessage(cause ?? error);
    failAt(url, `cannot be fetched (${reason})`, { cause: error });
  }
}

async function readBody(url: string, { body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) failAt(url, `is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
