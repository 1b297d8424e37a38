import { BenchProblem } from '../bench.ts';

/** The HTTP API of a service that somebody else started. */
export interface ServiceApi {
  readonly origin: string;
  readonly headers: Record<string, string>;
  /**
   * Sends JSON and returns the JSON of the response. Null if the response has no body.
   *
   * @param status of the response
   * @throws {BenchProblem} if the service cannot be reached, or responds otherwise
   */
  call(method: string, path: string, options: { body?: object; status: number }): Promise<unknown>;
}

export interface ServiceApiOptions {
  /** Of the service. */
  name: string;
  url: string;
  token: string;
  /** The environment variable with the token. */
  tokenVariable: string;
}

// A guard against hanging only.
const timeoutMs = 60_000;

export function serviceApi({ name, url, token, tokenVariable }: ServiceApiOptions): ServiceApi {
  const { origin } = new URL(url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    origin,
    headers,
    async call(method, path, { body, status }) {
      const request = `${method} ${origin}${path}`;
      let response;
      let text;
      try {
        const init = { method, headers, signal: AbortSignal.timeout(timeoutMs) };
        response = await fetch(`${origin}${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) });
        text = await response.text();
      } catch (error) {
        throw new BenchProblem(`${name} does not respond to ${request}: ${reason(error)}.`);
      }
      if (response.status === 401 || response.status === 403)
        throw new BenchProblem(
          `${name} rejects the token in ${tokenVariable}: it responds ${response.status} to ${request}.`,
        );
      const problem = `${name} responds ${response.status} to ${request}`;
      const excerpt = JSON.stringify(text.slice(0, 300));
      if (response.status !== status)
        throw new BenchProblem(
          `${problem}, but the bench expects ${status}. Is it another version? It said: ${excerpt}`,
        );
      try {
        return text === '' ? null : JSON.parse(text);
      } catch {
        throw new BenchProblem(`${problem} without JSON. Is the URL correct? It said: ${excerpt}`);
      }
    },
  };
}

/** The string at `path` in a response, for example `data.uid`. */
export function stringAt(response: unknown, path: string, problem: string): string {
  let value: unknown = response;
  for (const key of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  if (typeof value !== 'string')
    throw new BenchProblem(`${problem} has no ${path}. Is it another version? It is: ${JSON.stringify(response)}`);
  return value;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}
