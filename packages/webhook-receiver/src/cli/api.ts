import { field, messageOf } from '../field.ts';
import { textOf } from '../graphql-pull.ts';
import { readSettings, type SecretOptions } from './input.ts';
import { CommandError, type Shell, UsageError } from './shell.ts';
import { excerpt, parsedJson, textField } from './text.ts';

/** Requests to an interface of Deedwire, with the credentials of the environment. */
export interface Api {
  readonly url: string;
  readonly organizationId: string;
  /** @throws {CommandError} 3: the credentials are refused, 4: the API is unavailable, 1: it refuses the request */
  request<Data>(query: string, variables: object, timeoutMs?: number): Promise<Data>;
  /**
   * Runs a mutation, which gets its input and resolves with what is selected.
   *
   * @throws {CommandError} with the first of its user errors
   */
  mutate<Payload>(name: string, selected: string, input: object): Promise<Payload>;
}

/** The interface refuses a request. */
export class ApiError extends CommandError {
  /** Of its error. */
  readonly code: string;
  readonly extensions: unknown;

  constructor(message: string, exitCode: number, code: string, extensions: unknown) {
    super(message, exitCode);
    this.code = code;
    this.extensions = extensions;
  }
}

interface UserError {
  readonly code: string;
  readonly message: string;
}

const names = ['DEEDWIRE_URL', 'CLIENT_ID', 'API_KEY', 'ORGANIZATION_ID'] as const;
/** The interface may accept the request later. */
const transientCodes: ReadonlySet<string> = new Set([
  'INTERNAL_SERVER_ERROR',
  'OPERATION_TIMEOUT',
  'RATE_LIMITED',
  'REQUEST_TIMEOUT',
  'SERVICE_UNAVAILABLE',
]);

/** @throws {UsageError} if a variable is missing */
export async function openApi(shell: Shell, options: SecretOptions): Promise<Api> {
  const settings = await readSettings(shell, options);
  const missing = names.filter((name) => (settings[name] ?? '') === '');
  if (missing.length > 0)
    throw new UsageError(`set ${missing.join(', ')}, or pass --env-file with the credentials of an API client.`);
  const [url = '', clientId = '', apiKey = '', organizationId = ''] = names.map((name) => settings[name]?.trim());
  shell.hidden.add(apiKey);
  readApiUrl(url);
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'x-service-client-id': clientId,
    'x-service-api-key': apiKey,
    'x-service-organization-id': organizationId,
    'x-service-schema-version': '2026-11-01',
  };

  async function request<Data>(query: string, variables: object, timeoutMs = 30_000): Promise<Data> {
    // Node 20.0 has no `AbortSignal.any`.
    const deadline = new AbortController();
    const { signal } = deadline;
    const stop = (): void => deadline.abort(new Error(`no response within ${timeoutMs / 1_000} s`));
    const timer = setTimeout(stop, timeoutMs);
    shell.signal.addEventListener('abort', stop);
    let response: Response;
    let text: string;
    try {
      // A redirect would send the credentials to another host.
      const init = { method: 'POST', headers, body: JSON.stringify({ query, variables }), signal } as const;
      response = await fetch(url, { ...init, redirect: 'manual' });
      text = await textOf(response, signal);
      // It ends with a part of the text.
      signal.throwIfAborted();
    } catch (error) {
      const cause = field(error, 'cause');
      const reason = messageOf(cause === undefined ? error : (field(field(cause, 'errors'), '0') ?? cause));
      const message = `${new URL(url).origin} is unavailable: ${excerpt(reason, 200)}${proxyHint(settings)}`;
      throw new CommandError(message, 4, { cause: error });
    } finally {
      clearTimeout(timer);
      shell.signal.removeEventListener('abort', stop);
    }
    const content = parsedJson(text);
    const error = field(field(content, 'errors'), '0');
    const data = field(content, 'data');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract says what the query gets
    if (error === undefined && typeof data === 'object' && data !== null) return data as Data;
    const extensions = field(error, 'extensions');
    const code = textField(extensions, 'code');
    const { status } = response;
    const isRefused = status === 401 || status === 403 || code === 'UNAUTHENTICATED' || code === 'FORBIDDEN';
    const exitCode = isRefused ? 3 : status === 429 || status >= 500 || transientCodes.has(code) ? 4 : 1;
    const message = `the API responded ${status}: ${excerpt(textField(error, 'message') || text, 200)}`;
    throw new ApiError(message, exitCode, code, extensions);
  }

  async function mutate<Payload>(name: string, selected: string, input: object): Promise<Payload> {
    const query = `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
      payload: ${name}(input: $input) { ${selected} userErrors { code message } }
    }`;
    const { payload } = await request<{ payload: Payload & { userErrors: readonly UserError[] } }>(query, { input });
    const [error] = payload.userErrors;
    if (error === undefined) return payload;
    throw new CommandError(`${error.code}: ${excerpt(error.message, 400)}`);
  }

  return { url, organizationId, request, mutate };
}

/** @throws {UsageError} if it is no URL, or has a password, which no request may contain */
export function readApiUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError('DEEDWIRE_URL must be an absolute URL with https or http, and without a login.');
}

function proxyHint(settings: Shell['env']): string {
  const hasProxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => settings[name]);
  return hasProxy && settings['NODE_USE_ENV_PROXY'] !== '1'
    ? '. To use your proxy, set NODE_USE_ENV_PROXY=1 with Node 22.21 or later, or 24.5 or later.'
    : '';
}
