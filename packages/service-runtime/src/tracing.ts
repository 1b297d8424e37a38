import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Link, Span, SpanContext, SpanKind, Tracer } from '@opentelemetry/api';

/** Where an SDK of OpenTelemetry registers itself, whichever copy of the API it has loaded. */
const registration = Symbol.for('opentelemetry.js.api.1');

type Api = typeof OpenTelemetry;

export interface SpanOptions {
  readonly kind: 'server' | 'internal' | 'client';
  /** The `traceparent` of the span that caused this one. Undefined starts a trace. */
  readonly parent?: string | undefined;
  /** A `traceparent` that a client sent. The span is linked to it, if it is valid. */
  readonly linkedTo?: string | null | undefined;
  readonly attributes: Attributes;
  /** In milliseconds since the epoch. Defaults to now. */
  readonly startMs?: number | undefined;
}

/** A span that has started. */
export interface TracedSpan {
  /** For spans that this one causes. Undefined if the SDK does not sample the trace. */
  readonly traceParent: string | undefined;
  /** Runs `work` in the context of the span, so that the instrumentation of libraries adds its spans to the trace. */
  run<Result>(work: () => Result): Result;
  /** @param error a short code. Undefined if the work succeeded */
  end(error?: string, attributes?: Attributes): void;
}

/** Starts spans in the SDK that the operator has loaded. */
export interface Tracing {
  /** An attribute of all spans, once it is known. */
  cell?: number;
  start(name: string, options: SpanOptions): TracedSpan;
}

/**
 * Returns null unless an SDK is registered, which `NODE_OPTIONS=--import` can do before the app starts. Nothing is traced then, and the
 * API of OpenTelemetry is not loaded.
 */
export async function loadTracing(version: string): Promise<Tracing | null> {
  if (!(registration in globalThis)) return null;
  const api = await import('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  const isUnset = provider instanceof api.ProxyTracerProvider && provider.getDelegateTracer('deedwire') === undefined;
  return isUnset ? null : new OpenTelemetryTracing(api, api.trace.getTracer('deedwire', version));
}

class OpenTelemetryTracing implements Tracing {
  cell?: number;
  readonly #api: Api;
  readonly #tracer: Tracer;
  readonly #kinds: Record<SpanOptions['kind'], SpanKind>;

  constructor(api: Api, tracer: Tracer) {
    this.#api = api;
    this.#tracer = tracer;
    this.#kinds = { server: api.SpanKind.SERVER, internal: api.SpanKind.INTERNAL, client: api.SpanKind.CLIENT };
  }

  start(name: string, { kind, parent, linkedTo, attributes, startMs }: SpanOptions): TracedSpan {
    const api = this.#api;
    const cause = parseTraceParent(parent);
    const linked = parseTraceParent(linkedTo);
    const links: Link[] = linked === null ? [] : [{ context: linked }];
    const root = api.ROOT_CONTEXT;
    const outer = cause === null ? root : api.trace.setSpanContext(root, { ...cause, isRemote: true });
    const options = {
      kind: this.#kinds[kind],
      attributes: this.cell === undefined ? attributes : { ...attributes, 'deedwire.cell': this.cell },
      links,
      ...(startMs !== undefined && { startTime: startMs }),
    };
    const span = this.#tracer.startSpan(name, options, outer);
    return new OpenTelemetrySpan(api, span, api.trace.setSpan(outer, span));
  }
}

class OpenTelemetrySpan implements TracedSpan {
  readonly #api: Api;
  readonly #span: Span;
  readonly #context: Context;
  readonly traceParent: string | undefined;

  constructor(api: Api, span: Span, context: Context) {
    this.#api = api;
    this.#span = span;
    this.#context = context;
    this.traceParent = formatTraceParent(span.spanContext());
  }

  run<Result>(work: () => Result): Result {
    return this.#api.context.with(this.#context, work);
  }

  end(error?: string, attributes: Attributes = {}): void {
    this.#span.setAttributes(attributes);
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error).setStatus({ code: this.#api.SpanStatusCode.ERROR, message: error });
    }
    this.#span.end();
  }
}

const pattern = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;

function parseTraceParent(text: string | null | undefined): SpanContext | null {
  const [, traceId, spanId, flags] = pattern.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

function formatTraceParent({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  return (traceFlags & 1) === 1 ? `00-${traceId}-${spanId}-01` : undefined;
}
