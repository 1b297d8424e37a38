import { requestPath } from '@deedwire/service-runtime';
import type { FetchAPI } from 'graphql-yoga';
import type { RequestState } from '../request-state.ts';
import { sendableFields } from '../transport/sendable-fields.ts';

/*
 * What Yoga and plugins use of requests and responses. Yoga's own classes have bodies that are streams, lists of header fields and
 * an AbortController for each request, which cost more than a small operation.
 *
 * Plugins may use `url`, `method` and `headers` of a request, and `status`, `headers`, `text()` and `json()` of a response. They may
 * create responses with `fetchAPI.Response` or with that of Node. The body of a request has been read: `params` has its contents.
 */

type Fields = Record<string, string>;

/** Header fields by name. Names are compared without case. */
class LightHeaders {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    return this.#fields[this.#keyOf(name)] ?? null;
  }
  has(name: string): boolean {
    return this.get(name) !== null;
  }
  set(name: string, value: string): void {
    Object.assign(this.#fields, sendableFields([[this.#keyOf(name), value]]));
  }
  append(name: string, value: string): void {
    const known = this.get(name);
    this.set(name, known === null ? value : `${known}, ${value}`);
  }
  delete(name: string): void {
    delete this.#fields[this.#keyOf(name)];
  }
  forEach(call: (value: string, name: string) => void): void {
    for (const [name, value] of this) call(value, name);
  }
  keys(): IterableIterator<string> {
    return Object.keys(this.#fields).values();
  }
  values(): IterableIterator<string> {
    return Object.values(this.#fields).values();
  }
  entries(): IterableIterator<[string, string]> {
    return Object.entries(this.#fields).values();
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  #keyOf(name: string): string {
    if (Object.hasOwn(this.#fields, name)) return name;
    const wanted = name.toLowerCase();
    return Object.keys(this.#fields).find((key) => key.toLowerCase() === wanted) ?? name;
  }
}

/** The head of a request without the API key and cookies, because plugins log and trace requests. */
export class LightRequest {
  readonly state: RequestState;
  readonly method: string;
  readonly body = null;
  readonly #secretHeaders: ReadonlySet<string>;
  #headers: LightHeaders | undefined;
  #signal: AbortSignal | undefined;

  /** @param secretHeaders in lower case */
  constructor(state: RequestState, secretHeaders: ReadonlySet<string>) {
    this.state = state;
    this.#secretHeaders = secretHeaders;
    this.method = state.message.method ?? 'GET';
  }

  /** The Host header is whatever the client sends, so it is not a part of the URL. */
  get url(): string {
    const { message } = this.state;
    const [search = ''] = /\?[^#]*/.exec(message.url ?? '') ?? [];
    const path = requestPath(message);
    // A target like `*` has no path. `checkRequest` refuses it.
    return `http://localhost${path.startsWith('/') ? path : '/'}${search}`;
  }

  get headers(): LightHeaders {
    return (this.#headers ??= new LightHeaders(this.#fields()));
  }
  /** Yoga would parse the URL again for each of its hooks. */
  get parsedUrl(): URL {
    return new URL(this.url);
  }
  /** Never aborted: operations have a deadline. */
  get signal(): AbortSignal {
    return (this.#signal ??= new AbortController().signal);
  }

  #fields(): Fields {
    const { headers } = this.state.message;
    const fields: Fields = {};
    for (const name of Object.keys(headers)) if (!this.#secretHeaders.has(name)) fields[name] = String(headers[name]);
    return fields;
  }
}

type FieldsInit = Fields | Iterable<readonly [string, string]>;

/** A response whose body is a text. */
export class LightResponse {
  /** Alive, so that the headers that plugins set are sent. */
  readonly fields: Fields;
  readonly status: number;
  readonly statusText = '';
  readonly body: string | Buffer;
  #headers: LightHeaders | undefined;

  constructor(
    body?: string | Buffer | null,
    { status = 200, headers = {} }: { status?: number; headers?: FieldsInit } = {},
  ) {
    if (!(status >= 200 && status <= 599)) throw new RangeError(`The status ${status} is not from 200 to 599.`);
    this.body = body ?? '';
    this.status = status;
    this.fields = Symbol.iterator in headers ? Object.fromEntries(headers) : headers;
  }

  static json(value: unknown, init?: ConstructorParameters<typeof LightResponse>[1]): LightResponse {
    const response = new LightResponse(JSON.stringify(value), init);
    if (!response.headers.has('Content-Type')) response.headers.set('Content-Type', 'application/json');
    return response;
  }

  get headers(): LightHeaders {
    return (this.#headers ??= new LightHeaders(this.fields));
  }
  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }
  async text(): Promise<string> {
    return this.body.toString();
  }
  async json(): Promise<unknown> {
    return JSON.parse(this.body.toString());
  }
  clone(): LightResponse {
    return new LightResponse(this.body, { status: this.status, headers: { ...this.fields } });
  }
}

/* The next ones have what Yoga uses of the classes. */
/* oxlint-disable typescript/no-unsafe-type-assertion */

/** For Yoga's option. */
export const lightFetch = { Request: LightRequest, Response: LightResponse } as unknown as Partial<FetchAPI>;

/** Yoga would copy a context. Our plugins find the state in the request. */
export const noContext = undefined as never;

export const asRequest = (request: LightRequest): Request => request as unknown as Request;
export const asResponse = (response: LightResponse): Response => response as unknown as Response;
export const stateOf = (request: Request): RequestState => (request as unknown as LightRequest).state;
