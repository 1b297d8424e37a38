import { field, messageOf } from '../field.ts';
import { readSettings } from './input.ts';
import { CommandError, type Shell, UsageError } from './shell.ts';
import { excerpt, parsedJson, textField } from './text.ts';

/** Requests to an interface of Deedwire, with the credentials of the environment. */
export interface Api {
  readonly url: string;
  readonly organizationId: string;
  /** @throws {CommandError} 3: the credentials are refused, 4: the API is unavailable, 1: it refuses the request */
  request(query: string, variables: object, timeoutMs?: number): Promise<unknown>;
  /** Like `request`, for a mutation named `payload`. Throws the first of its user errors. */
  mutate(query: string, input: object): Promise<unknown>;
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

const names = ['DEEDWIRE_URL', 'CLIENT_ID', 'API_KEY', 'ORGANIZATION_ID'] as const;
const responseMax = 4_000_000;
/** The interface may accept the request later. */
const transientCodes: ReadonlySet<string> = new Set([
  'INTERNAL_SERVER_ERROR',
  'OPERATION_TIMEOUT',
  'RATE_LIMITED',
  'REQUEST_TIMEOUT',
  'SERVICE_UNAVAILABLE',
]);

/** @throws {UsageError} if a variable is missing */
export async function openApi(shell: Shell, envFile: string | undefined): Promise<Api> {
  const settings = await readSettings(shell, envFile);
  const missing = names.filter((name) => (settings[name] ?? '') === '');
  if (missing.length > 0)
    throw new UsageError(`set ${missing.join(', ')}, or pass --env-file with the credentials of an API client.`);
  const [url = '', clientId = '', apiKey = '', organizationId = ''] = names.map((name) => settings[name]?.trim());
  shell.hidden.add(apiKey);
  if (!URL.canParse(url) || !/^https?:\/\//.test(url))
    throw new UsageError('DEEDWIRE_URL must be an absolute URL with https or http.');
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'x-service-client-id': clientId,
    'x-service-api-key': apiKey,
    'x-service-organization-id': organizationId,
    'x-service-schema-version': '2026-11-01',
  };

  async function request(query: string, variables: object, timeoutMs = 30_000): Promise<unknown> {
    const signal = AbortSignal.any([shell.signal, AbortSignal.timeout(timeoutMs)]);
    let response: Response;
    let text: string;
    try {
      // A redirect would send the credentials to another host.
      const init = { method: 'POST', headers, body: JSON.stringify({ query, variables }), signal } as const;
      response = await fetch(url, { ...init, redirect: 'manual' });
      text = await textOf(response);
    } catch (error) {
      const cause = field(error, 'cause');
      const reason = messageOf(cause === undefined ? error : (field(field(cause, 'errors'), '0') ?? cause));
      throw new CommandError(
        `${new URL(url).origin} is unavailable: ${excerpt(reason, 200)}${proxyHint(settings)}`,
        4,
        {
          cause: error,
        },
      );
    }
    const content = parsedJson(text);
    const error = field(field(content, 'errors'), '0');
    const data = field(content, 'data');
    if (error === undefined && typeof data === 'object' && data !== null) return data;
    const extensions = field(error, 'extensions');
    const code = textField(extensions, 'code');
    const { status } = response;
    const isRefused = status === 401 || status === 403 || code === 'UNAUTHENTICATED' || code === 'FORBIDDEN';
    const exitCode = isRefused ? 3 : status === 429 || status >= 500 || transientCodes.has(code) ? 4 : 1;
    const message = `the API responded ${status}: ${excerpt(textField(error, 'message') || text, 200)}`;
    throw new ApiError(message, exitCode, code, extensions);
  }

  async function mutate(query: string, input: object): Promise<unknown> {
    const payload = field(await request(query, { input }), 'payload');
    const error = field(field(payload, 'userErrors'), '0');
    if (error === undefined) return payload;
    throw new CommandError(`${String(field(error, 'code'))}: ${excerpt(String(field(error, 'message')), 400)}`);
  }

  return { url, organizationId, request, mutate };
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  // The types of Node and of the Fetch API differ in whether a stream can be iterated.
  const reader = response.body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > responseMax) throw new Error(`the response has more than ${responseMax / 1e6} MB`);
  }
}

function proxyHint(settings: Shell['env']): string {
  const hasProxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => settings[name]);
  return hasProxy && settings['NODE_USE_ENV_PROXY'] !== '1'
    ? '. To use your proxy, set NODE_USE_ENV_PROXY=1 with Node 22.21 or later, or 24.5 or later.'
    : '';
}
