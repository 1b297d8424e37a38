import {
  context,
  trace,
  ROOT_CONTEXT,
  type Context,
  type ContextManager,
  type Span,
  type SpanOptions,
  type TracerProvider,
} from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { loadTracing, type Tracing } from './tracing.ts';

const ours = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const theirs = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

interface Started {
  name: string;
  options: SpanOptions;
  parent: object | undefined;
  ended: unknown[];
}

let started: Started[] = [];
afterEach(() => {
  trace.disable();
  started = [];
});

const noContexts: ContextManager = {
  active: () => ROOT_CONTEXT,
  with: (_, work, self, ...args) => work.call(self as never, ...args),
  bind: (_, target) => target,
  enable: () => noContexts,
  disable: () => noContexts,
};

/** Registers an SDK whose spans all have the same ids. */
function register(traceFlags: number): void {
  const provider: TracerProvider = {
    getTracer: () => ({
      startActiveSpan: () => expect.fail('not used'),
      startSpan(name: string, options: SpanOptions = {}, parent?: Context): Span {
        const ended: unknown[] = [];
        started.push({ name, options, parent: parent && trace.getSpanContext(parent), ended });
        const span = trace.wrapSpanContext({ ...ours, traceFlags });
        span.setAttributes = (attributes) => (ended.push(attributes), span);
        span.setAttribute = (key, value) => (ended.push({ [key]: value }), span);
        span.setStatus = (status) => (ended.push(status), span);
        span.end = () => void ended.push('end');
        return span;
      },
    }),
  };
  trace.setGlobalTracerProvider(provider);
}

async function loaded(): Promise<Tracing> {
  const tracing = await loadTracing('1.2.3');
  if (tracing === null) throw new Error('Nothing is traced.');
  return tracing;
}

test('without an SDK, nothing is traced', async () => {
  expect(await loadTracing('1.2.3')).toBeNull();
  // The API of OpenTelemetry is registered, but no SDK.
  context.setGlobalContextManager(noContexts);
  expect(await loadTracing('1.2.3')).toBeNull();
  context.disable();
});

test('a span has its cause as the parent, and the trace of a client as a link', async () => {
  register(1);
  const tracing = await loaded();
  const span = tracing.start('mutation Refer', { kind: 'server', linkedTo: theirs, attributes: { a: 1 } });
  expect(span.traceParent).toBe(`00-${ours.traceId}-${ours.spanId}-01`);
  tracing.start('fan-out', { kind: 'internal', parent: span.traceParent, startMs: 5, attributes: {} });
  const link = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 0 };
  expect(started).toEqual([
    {
      name: 'mutation Refer',
      options: { kind: 1, attributes: { a: 1 }, links: [{ context: link }] },
      parent: undefined,
      ended: [],
    },
    {
      name: 'fan-out',
      options: { kind: 0, attributes: {}, links: [], startTime: 5 },
      parent: { ...ours, traceFlags: 1, isRemote: true },
      ended: [],
    },
  ]);
});

test('a span names the cell once it is known', async () => {
  register(1);
  const tracing = await loaded();
  tracing.cell = 5;
  tracing.start('query', { kind: 'server', attributes: { a: 1 } });
  expect(started[0]?.options.attributes).toEqual({ a: 1, 'deedwire.cell': 5 });
});

test('a span ends with a status only if it failed', async () => {
  register(1);
  const tracing = await loaded();
  tracing.start('a', { kind: 'client', attributes: {} }).end(undefined, { status: 204 });
  tracing.start('b', { kind: 'client', attributes: {} }).end('TIMEOUT');
  expect(started.map(({ ended }) => ended)).toEqual([
    [{ status: 204 }, 'end'],
    [{}, { 'error.type': 'TIMEOUT' }, { code: 2, message: 'TIMEOUT' }, 'end'],
  ]);
});

test('a trace that is not sampled is not continued', async () => {
  register(0);
  const span = (await loaded()).start('mutation', { kind: 'server', attributes: {} });
  expect(span.traceParent).toBeUndefined();
});

test.each([
  '',
  'a',
  `${theirs}-more`,
  theirs.toUpperCase(),
  theirs.replace('00-', '01-'),
  `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
])('a client cannot link to %j', async (linkedTo) => {
  register(1);
  (await loaded()).start('query', { kind: 'server', linkedTo, attributes: {} });
  expect(started[0]?.options.links).toEqual([]);
});
