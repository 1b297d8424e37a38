import { field } from '../field.ts';
import { textOf } from '../graphql-pull.ts';
import { hiderOf } from './header-echo.ts';
import type { RequestHeader } from './header-option.ts';
import { readPrefix, readSettings, type SecretOptions } from './input.ts';
import { reasonOf } from './send.ts';
import { CommandError, type Shell, UsageError } from './shell.ts';
import { proxyHint } from './target.ts';
import { excerpt, parsedJson, textField } from './text.ts';

/** Requests to an interface of Deedwire, with the credentials of the environment. */
export interface Api {
  readonly url: string;
  /** What the names of its headers begin with. */
  readonly prefix: string;
  readonly organizationId: string;
  /**
   * @param example of what the query gets
   * @throws {CommandError} 3: the credentials are refused, 4: the API is unavailable, 1: it refuses the request
   */
  request<Data>(query: string, variables: object, example: Data, timeoutMs?: number): Promise<Data>;
  /** @throws {CommandError} with the first user error of the mutation */
  mutate<Payload>(name: string, selected: string, example: Payload, input: object): Promise<Payload>;
}

export class ApiError extends CommandError {
  readonly code: string;
  readonly extensions: unknown;

  constructor(message: string, exitCode: number, extensions: unknown) {
    super(message, exitCode);
    this.code = textField(extensions, 'code');
    this.extensions = extensions;
  }
}

const names = ['DEEDWIRE_URL', 'HEADER_PREFIX', 'CLIENT_ID', 'API_KEY', 'ORGANIZATION_ID'] as const;
/** The interface may accept the request later. */
const transientCodes = /^(?:INTERNAL_SERVER_ERROR|OPERATION_TIMEOUT|RATE_LIMITED|REQUEST_TIMEOUT|SERVICE_UNAVAILABLE)$/;

/**
 * @param sentHeader of a subscription: no message quotes it
 * @throws {UsageError} if a variable is missing
 */
export async function openApi(shell: Shell, options: SecretOptions, sentHeader?: RequestHeader): Promise<Api> {
  const hideHeader = hiderOf(sentHeader);
  const settings = await readSettings(shell, options);
  const missing = names.filter((name) => (settings[name] ?? '') === '');
  if (missing.length > 0)
    throw new UsageError(`set ${missing.join(', ')}, or pass --env-file with the credentials of an API client.`);
  const [url = '', , clientId = '', apiKey = '', organizationId = ''] = names.map((name) => settings[name]?.trim());
  const prefix = (await readPrefix(shell, options)) ?? '';
  const versionHeader = `${prefix}-Schema-Version`;
  readApiUrl(url);
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/json',
    [`${prefix}-Client-Id`]: clientId,
    [`${prefix}-API-Key`]: apiKey,
    [`${prefix}-Organization-Id`]: organizationId,
    [versionHeader]: '2026-11-01',
  });

  async function request<Data>(query: string, variables: object, example: Data, timeoutMs = 30_000): Promise<Data> {
    // Node 20.0 has no `AbortSignal.any`.
    const deadline = new AbortController();
    const { signal } = deadline;
    const stop = (): void => deadline.abort(new Error(`no response within ${timeoutMs / 1_000} s`));
    const timer = setTimeout(stop, timeoutMs);
    shell.signal.addEventListener('abort', stop);
    const isNamed = headers.has(versionHeader);
    let status: number;
    let text: string;
    try {
      // A redirect would send the credentials to another host.
      const init = { method: 'POST', headers, body: JSON.stringify({ query, variables }), signal } as const;
      const response = await fetch(url, { ...init, redirect: 'manual' });
      ({ status } = response);
      text = await textOf(response, signal);
      // It ends with a part of the text.
      signal.throwIfAborted();
    } catch (error) {
      const reason = excerpt(reasonOf(field(error, 'cause') ?? error), 200);
      const message = `${new URL(url).origin} is unavailable: ${reason}${proxyHint(settings)}`;
      throw new CommandError(message, 4, { cause: error });
    } finally {
      clearTimeout(timer);
      shell.signal.removeEventListener('abort', stop);
    }
    const content = parsedJson(text);
    const error = field(field(content, 'errors'), '0');
    const data = field(content, 'data');
    if (error === undefined && isLike(example, data)) return data;
    const extensions = field(error, 'extensions');
    const code = textField(extensions, 'code');
    if (isNamed && code === 'UNSUPPORTED_SCHEMA_VERSION') {
      // The interface never had this version, or no longer serves it: the one that the client is pinned to applies.
      headers.delete(versionHeader);
      return request(query, variables, example, timeoutMs);
    }
    const isRefused = status === 401 || status === 403 || code === 'UNAUTHENTICATED' || code === 'FORBIDDEN';
    // Something between answers in its place, or it will recover.
    const isForeign = error === undefined && status < 300;
    const isTransient = isForeign || status === 429 || status >= 500 || transientCodes.test(code);
    const message = `the API responded ${status}: ${excerpt(hideHeader(textField(error, 'message') || text), 200)}`;
    throw new ApiError(message, isRefused ? 3 : isTransient ? 4 : 1, extensions);
  }

  async function mutate<Payload>(name: string, selected: string, example: Payload, input: object): Promise<Payload> {
    const query = `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
      payload: ${name}(input: $input) { ${selected} userErrors { code message } }
    }`;
    const { payload } = await request(query, { input }, { payload: { userErrors: [{ code: '', message: '' }] } });
    const [error] = payload.userErrors;
    if (error !== undefined)
      throw new CommandError(`${hideHeader(error.code)}: ${excerpt(hideHeader(error.message), 400)}`);
    if (isLike(example, payload)) return payload;
    throw new CommandError(`the API responded to ${name} with something else than its contract says.`, 4);
  }

  return { url, prefix, organizationId, request, mutate };
}

const canBeNull = Symbol('can be null');

/** An example of what can be null. */
export function orNull<Example>(example: Example): Example | null {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `isLike` reads it
  return { [canBeNull]: example } as never;
}

/** Whether a value has the fields of an example, with their types. */
export function isLike<Example>(example: Example, value: unknown): value is Example {
  if (typeof example === 'object' && example !== null && canBeNull in example)
    return value === null || isLike(example[canBeNull], value);
  if (Array.isArray(example)) return Array.isArray(value) && value.every((each) => isLike<unknown>(example[0], each));
  if (typeof example !== 'object' || example === null) return typeof value === typeof example;
  return Object.entries(example).every(([name, each]) => isLike<unknown>(each, field(value, name)));
}

/** @throws {UsageError} if it is no URL, or has a password, which no request may contain */
export function readApiUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError('DEEDWIRE_URL must be an absolute URL with https or http, and without a login.');
}
