import type { Agent, OutgoingHttpHeaders } from 'node:http';
import { deliveryHeaders, type EventBody, sampleEvent, type Signing } from './delivery.ts';
import { type Interceptor, interceptorOf } from './diagnosis.ts';
import type { InstalledEvents } from './event-package.ts';
import { headerAdvice } from './header-advice.ts';
import { hiderOf } from './header-echo.ts';
import type { RequestHeader } from './header-option.ts';
import { type Answer, defaultTimeoutMs, send } from './send.ts';
import type { Target } from './target.ts';

export interface GradeOptions extends Target {
  readonly secret: string;
  /** A second secret that the receiver has. */
  readonly nextSecret?: string | undefined;
  /** Of the service's own headers. Undefined: only those of Standard Webhooks are sent. */
  readonly prefix?: string | undefined;
  /** Any receiver of Standard Webhooks: without what is special about Deedwire. */
  readonly isStandard?: boolean;
  /** The package with the types of the events. Null: only `webhook.test` is known */
  readonly events?: InstalledEvents | null;
  readonly type?: string;
  readonly version?: string | undefined;
  /** The header of its subscription. */
  readonly header?: RequestHeader | undefined;
  /** The timeout of its subscription. Defaults to 5,000. */
  readonly timeoutMs?: number;
  /** How many effects the receiver has had until now. */
  readonly count?: (() => Promise<number>) | undefined;
}

export interface Request extends Partial<Signing> {
  /** What is signed. Defaults to a new event. */
  readonly body?: string;
  /** What is sent in its place. */
  readonly sentBody?: string;
  /** Where the bytes are cut into parts. */
  readonly cuts?: (bytes: Buffer) => readonly number[];
  readonly isChunked?: boolean;
  readonly headers?: (signed: OutgoingHttpHeaders) => OutgoingHttpHeaders;
  readonly method?: string | undefined;
  readonly agent?: Agent | undefined;
  /** Defaults to the timeout of the subscription. */
  readonly timeoutMs?: number;
}

export type RequestsOf = (event: EventBody, options: GradeOptions) => readonly Request[];

export interface Reply extends Answer {
  /** What responded in place of the receiver. Null if nothing indicates that. */
  readonly interceptor: Interceptor | null;
  /** What to do if it asks for a header. Null if it does not. */
  readonly headerAdvice: string | null;
  /** The body, for messages: without secrets. */
  readonly quote: string;
}

/** Sends requests to the receiver that is graded. */
export class Grading {
  readonly options: GradeOptions;
  readonly #hideHeader: (text: string) => string;

  constructor(options: GradeOptions) {
    this.options = options;
    this.#hideHeader = hiderOf(options.header);
  }

  get timeoutSeconds(): number {
    return (this.options.timeoutMs ?? defaultTimeoutMs) / 1_000;
  }

  event(): EventBody {
    const { events = null, type = 'webhook.test', version, isStandard = false } = this.options;
    // Any receiver may check what Standard Webhooks say about a body: its type, time and data.
    return isStandard ? { ...sampleEvent(null, 'webhook.test'), type } : sampleEvent(events, type, version);
  }

  async send(request: Request = {}): Promise<Reply> {
    const { url, secret, prefix, isStandard = false, count, header } = this.options;
    const event = this.event();
    const { method, agent, isChunked, body = JSON.stringify(event), timeoutMs, ...signing } = request;
    const { sentBody = body, cuts = () => [], headers = (signed) => signed } = request;
    const signed = deliveryHeaders(
      Buffer.from(body),
      { secret, prefix: isStandard ? undefined : prefix, isTest: count === undefined, ...signing },
      event,
    );
    const bytes = Buffer.from(sentBody);
    const starts = [0, ...cuts(bytes)];
    const parts = starts.map((start, index) => bytes.subarray(start, starts[index + 1]));
    const answer = await send(this.options, {
      method,
      // It is for what is in front of the receiver, so no check changes it.
      headers: { ...headers(signed), ...(header && { [header.name]: header.value }) },
      body: method === 'GET' ? [] : parts,
      isChunked,
      agent,
      timeoutMs: timeoutMs ?? this.options.timeoutMs,
    });
    return {
      ...answer,
      interceptor: interceptorIn(url, answer),
      headerAdvice: headerAdvice(answer, header),
      quote: this.redacted(answer.body),
    };
  }

  async sendAll(requestsOf: RequestsOf): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (const request of requestsOf(this.event(), this.options)) replies.push(await this.send(request));
    return replies;
  }

  /** A text of the receiver, without what it was sent or may know. */
  redacted(text: string): string {
    const { secret, nextSecret = secret } = this.options;
    return this.#hideHeader(text).replaceAll(secret, '[the secret]').replaceAll(nextSecret, '[the second secret]');
  }
}

/** A page with 2xx that something else returns is no acknowledgement. */
export const isAccepted = ({ status, interceptor }: Reply): boolean =>
  interceptor === null && isBetween(status, 200, 300);

export const isBetween = (status: number | null, from: number, to: number): boolean =>
  status !== null && status >= from && status < to;

function interceptorIn(url: URL, { status, headers, body }: Answer): Interceptor | null {
  const header = (name: string): string | null => headers[name]?.toString() ?? null;
  return status === null ? null : interceptorOf(url, { status, header, body });
}
