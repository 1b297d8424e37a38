import { BenchProblem } from '../bench.ts';
import type { LoadRequest } from '../graphql/load-process.ts';

/** A running webhook service. */
export interface Service {
  readonly name: string;
  /**
   * @param name of letters, digits and hyphens, which no other tenant has
   * @param urls one endpoint each
   * @throws {BenchProblem} if the service cannot be reached, or responds otherwise than the adapter expects
   */
  createTenant(name: string, urls: readonly string[]): Promise<Tenant>;
  /** The CPU time of all its processes. Null if it is not known. */
  cpuMs: () => Promise<number | null>;
}

/** One customer of a service, with its endpoints. */
export interface Tenant {
  /** Sends an event to all endpoints of the tenant. */
  readonly event: EventRequest;
  /** Removes the tenant and its endpoints. */
  remove(): Promise<unknown>;
}

/** A request that sends one event. `{n}` in its body is the name of the event after `bench-`. */
export type EventRequest = Pick<LoadRequest, 'origin' | 'path' | 'headers' | 'body' | 'status' | 'leastBytes'>;

export type ServiceApi = ReturnType<typeof serviceApi>;

interface ServiceApiOptions {
  /** Of the service. */
  name: string;
  url: string;
  token: string;
  /** The environment variable with the token. */
  tokenVariable: string;
}

// A guard against hanging only.
const timeoutMs = 60_000;

/** The HTTP API of a service that somebody else started. */
export function serviceApi({ name, url, token, tokenVariable }: ServiceApiOptions) {
  const { origin } = new URL(url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    /**
     * Sends JSON and returns the JSON of the response. Null if the response has no body.
     *
     * @param status of the response
     * @throws {BenchProblem} if the service cannot be reached, or responds otherwise
     */
    async call(method: string, path: string, status: number, body?: object): Promise<unknown> {
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
      const problem = `${name} responds ${response.status} to ${request}`;
      const excerpt = JSON.stringify(text.slice(0, 300));
      if (response.status === 401 || response.status === 403)
        throw new BenchProblem(
          `${name} rejects the token in ${tokenVariable}: it responds ${response.status} to ${request}.`,
        );
      if (response.status !== status)
        throw new BenchProblem(
          `${problem}, but the bench expects ${status}. Is it another version? The response: ${excerpt}`,
        );
      try {
        return text === '' ? null : JSON.parse(text);
      } catch {
        throw new BenchProblem(`${problem} without JSON. Is the URL correct? The response: ${excerpt}`);
      }
    },
    /** The request that sends one event. */
    event: (path: string, status: number, body: object): EventRequest => ({
      origin,
      path,
      headers: [headers],
      body: JSON.stringify(body),
      status,
      leastBytes: 1,
    }),
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
