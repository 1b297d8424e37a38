import { createWebhookReceiver } from '../../src/receiver.ts';
import type { ReceivedRequest } from '../../src/requests.ts';
import type { ReceiverResponse } from '../../src/responses.ts';
import type { WebhookStore } from '../../src/store.ts';
import { deliveryOf, secret } from './delivery.ts';
import { silent } from './log.ts';
import type { CreateReceiver, Options } from './setup.ts';

/** A mistake of a receiver, and the names of the cases that notice it. */
export interface Fault {
  readonly name: string;
  readonly caughtBy: readonly string[];
  readonly create: CreateReceiver;
}

/** Other options than the developer meant. */
function withOptions(change: (options: Options) => Partial<Options>): CreateReceiver {
  return (options) => createWebhookReceiver({ ...options, ...change(options) });
}

type Receive = (request: ReceivedRequest) => Promise<ReceiverResponse>;

/** Something between the adapter and the receiver. */
function around(
  middleware: (request: ReceivedRequest, receive: Receive, options: Options) => Promise<ReceiverResponse>,
): CreateReceiver {
  return (options) => {
    const receiver = createWebhookReceiver(options);
    return { ...receiver, receive: (request) => middleware(request, receiver.receive, options) };
  };
}

function changedBody(change: (bytes: Uint8Array) => Uint8Array): CreateReceiver {
  return around((request, receive) =>
    receive({
      ...request,
      async body() {
        const body = await request.body();
        return body.kind === 'bytes' ? { kind: 'bytes', bytes: change(body.bytes) } : body;
      },
    }),
  );
}

function changedHeaders(change: (name: string, values: readonly string[]) => string | null): CreateReceiver {
  return around((request, receive) => {
    const headers = Object.entries<readonly string[] | undefined>(Object(request.headers)).flatMap(([name, values]) => {
      const value = change(name, values ?? []);
      return value === null ? [] : [[name, value] as const];
    });
    return receive({ ...request, headers: Object.fromEntries(headers) });
  });
}

function changedResponse(from: string, to: ReceiverResponse): CreateReceiver {
  return around(async (request, receive) => {
    const response = await receive(request);
    return response.body.includes(`"${from}"`) ? to : response;
  });
}

/** Signs what was received again, as if nothing were verified. */
function signedAgain(isAccepted: (request: ReceivedRequest) => boolean): CreateReceiver {
  return around(async (request, receive) => {
    const body = await request.body();
    if (body.kind !== 'bytes' || !isAccepted(request)) return receive({ ...request, body: async () => body });
    const { headers } = deliveryOf({ body: body.bytes, secret });
    const received = Object.entries<unknown>(headers).map(([name, value]) => [name, [String(value)]]);
    return receive({ ...request, headers: Object.fromEntries(received), body: async () => body });
  });
}

function withStore(change: (store: WebhookStore) => WebhookStore): CreateReceiver {
  return withOptions(({ store }) => ({ store: change(store) }));
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const json = (status: number, content: object): ReceiverResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(content),
});
const accepted = json(200, { result: 'processed' });
const has =
  (name: string) =>
  (request: ReceivedRequest): boolean =>
    Object.hasOwn(request.headers, name);

export const faults: readonly Fault[] = [
  {
    name: 'verifies nothing',
    caughtBy: [
      'refuses a changed body',
      'refuses the signature of another secret, and a request without a signature',
      'refuses an unsigned handshake once there is a secret',
      'refuses doubled headers',
      'refuses half a scheme',
      'refuses a body that a proxy compressed',
    ],
    create: signedAgain(() => true),
  },
  {
    name: 'ignores the timestamp',
    caughtBy: ['refuses a request that was signed 10 minutes ago or ahead'],
    create: signedAgain(has('webhook-timestamp')),
  },
  {
    name: 'invents an id',
    caughtBy: ['responds 400 to an event without webhook-id'],
    create: signedAgain((request) => !has('webhook-id')(request)),
  },
  {
    name: 'cannot use the bytes of a parser',
    caughtBy: ['processes a delivery after a parser that keeps the bytes'],
    create: around((request, receive) => receive({ ...request, body: async () => ({ kind: 'not-raw', fix: '' }) })),
  },
  {
    name: 'does not log',
    caughtBy: ['responds 500 and logs the fix in one line after something that consumes the body'],
    create: withOptions(() => ({ log: silent })),
  },
  {
    name: 'serializes the parsed body again',
    caughtBy: ['verifies the bytes, not their text'],
    create: changedBody((bytes) => {
      try {
        return Buffer.from(JSON.stringify(JSON.parse(text(bytes))));
      } catch {
        return bytes;
      }
    }),
  },
  {
    name: 'decodes the body',
    caughtBy: [
      'responds 400 to signed bodies that are empty, truncated, malformed or not UTF-8',
      'accepts a byte order mark that is signed',
    ],
    create: changedBody((bytes) => Buffer.from(text(bytes))),
  },
  {
    name: 'acknowledges an empty body',
    caughtBy: ['responds 400 to a signed request without a body'],
    create: around(async (request, receive) => {
      const body = await request.body();
      if (body.kind === 'bytes' && body.bytes.byteLength === 0) return accepted;
      return receive({ ...request, body: async () => body });
    }),
  },
  {
    name: 'reads a limited part of the body',
    caughtBy: ['accepts 300,000 bytes'],
    create: changedBody((bytes) => bytes.subarray(0, 100_000)),
  },
  {
    name: 'acknowledges a body that is too large',
    caughtBy: ['responds 413 to 300,001 bytes', 'responds 413 to a body that is too large before it ends'],
    create: changedResponse('BODY_TOO_LARGE', accepted),
  },
  {
    name: 'acknowledges a body that did not arrive',
    caughtBy: ['responds 408 to a body that does not arrive', 'responds 408 to a body that arrives too slowly'],
    create: changedResponse('BODY_TIMEOUT', accepted),
  },
  {
    name: 'keeps connections',
    caughtBy: ['closes the connection if it does not read the whole body'],
    create: around(async (request, receive) => {
      const response = await receive(request);
      const headers = Object.entries(response.headers).filter(([name]) => name !== 'connection');
      return { ...response, headers: Object.fromEntries(headers) };
    }),
  },
  {
    name: 'stops after a client that disconnected',
    caughtBy: ['keeps working after clients that disconnect in the middle of a request'],
    create(options) {
      const receiver = createWebhookReceiver(options);
      return {
        ...receiver,
        async receive(request) {
          const response = await receiver.receive(request);
          if (response.body.includes('BODY_ABORTED')) await receiver.close();
          return response;
        },
      };
    },
  },
  {
    name: 'reads JSON media types only',
    caughtBy: ['accepts each media type'],
    create: around(async (request, receive) => {
      const type: unknown = Reflect.get(request.headers, 'content-type');
      return String(type) === 'application/json' ? receive(request) : json(400, { code: 'BODY_MALFORMED' });
    }),
  },
  {
    name: 'uses the first value of a header',
    caughtBy: ['refuses a header that occurs in two spellings'],
    create: changedHeaders((_name, values) => values[0] ?? null),
  },
  {
    name: 'drops the headers that are not signed',
    caughtBy: ['processes a signed event and passes the event, its id and the unsigned headers'],
    create: changedHeaders((name, values) => (/-(?:sequence|attempt)$/.test(name) ? null : (values[0] ?? null))),
  },
  {
    name: 'routes by an unsigned header',
    caughtBy: ['routes by the signed body, not by unsigned headers'],
    create: around(async (request, receive) => {
      const type: unknown = Reflect.get(request.headers, 'x-service-webhook-event');
      return type === undefined ? receive(request) : json(200, { result: 'unhandled' });
    }),
  },
  {
    name: 'answers handshakes with text',
    caughtBy: ['answers an unsigned handshake while there is no secret'],
    create: around(async (request, receive) => {
      const response = await receive(request);
      return { ...response, headers: { 'content-type': 'text/html' } };
    }),
  },
  {
    name: 'awaits a secret without being asked to',
    caughtBy: ['answers no handshake if the secret is missing by mistake'],
    create: withOptions(() => ({ awaitingSecret: true })),
  },
  {
    name: 'answers no handshake',
    caughtBy: ['answers a verified handshake', 'answers an unsigned handshake by option'],
    create: around(async (request, receive) => {
      const response = await receive(request);
      return response.body.includes('verification_token') ? json(400, { code: 'BODY_MALFORMED' }) : response;
    }),
  },
  {
    name: 'returns each token',
    caughtBy: ['does not return a token that is long or contains HTML'],
    create: around(async (request, receive) => {
      const body = await request.body();
      const bytes = body.kind === 'bytes' ? body.bytes : new Uint8Array();
      if (text(bytes).startsWith('{"verification_token"')) return json(200, JSON.parse(text(bytes)));
      return receive({ ...request, body: async () => body });
    }),
  },
  {
    name: 'acknowledges events while it has no secret',
    caughtBy: ['responds 503 to an event while there is no secret'],
    create: changedResponse('SECRET_MISSING', accepted),
  },
  {
    name: 'accepts each method',
    caughtBy: ['responds 405 to other methods'],
    create: around((request, receive) => receive({ ...request, method: 'POST' })),
  },
  {
    name: 'responds 404 to what it does not handle',
    caughtBy: ['acknowledges an unknown type, an unknown version and a known type without a handler'],
    create: withOptions(() => ({
      onUnhandled: () => {
        throw new Error('Not found.');
      },
    })),
  },
  {
    name: 'finds handlers in the prototype',
    caughtBy: ['finds no handler for names that objects inherit'],
    create: around(async (request, receive) => {
      const body = await request.body();
      const content: unknown = body.kind === 'bytes' ? JSON.parse(text(body.bytes)) : null;
      const type: unknown = Reflect.get(Object(content), 'type');
      const handlers: object = {};
      return Reflect.get(handlers, String(type)) === undefined
        ? receive({ ...request, body: async () => body })
        : json(500, { code: 'HANDLER_FAILED' });
    }),
  },
  {
    name: 'ignores the option to reject events without a handler',
    caughtBy: ['responds 501 to events without a handler by option'],
    create: withOptions(() => ({ rejectUnhandled: false })),
  },
  {
    name: 'remembers nothing',
    caughtBy: ['processes a repeated delivery once'],
    create: withStore((store) => ({
      ...store,
      once: (id, work) => store.once(`${id} ${Math.random()}`, work),
    })),
  },
  {
    name: 'cannot forget',
    caughtBy: ['processes a delivery again after forget'],
    create: withStore((store) => ({ ...store, forget: async () => 1 })),
  },
  {
    name: 'acknowledges before the handler has finished',
    caughtBy: [
      'acknowledges only when the handler has finished, and responds 409 meanwhile',
      'finishes the handler of a client that disconnects, so that the retry is a duplicate',
      'responds 500 to a handler that throws, and calls it for the retry',
    ],
    create: withStore((store) => ({
      ...store,
      async once(id, work) {
        return store.once(id, async (transaction) => {
          work(transaction).catch(() => {});
        });
      },
    })),
  },
  {
    name: 'runs the handler when the store fails',
    caughtBy: ['responds 503 without calling the handler if the store fails'],
    create: withStore((store) => ({
      ...store,
      async once(id, work) {
        try {
          return await store.once(id, work);
        } catch {
          await work(undefined);
          return 'processed';
        }
      },
    })),
  },
  {
    name: 'removes white space from secrets',
    caughtBy: ['responds 500 to a loaded secret with a line feed, and does not log it'],
    create: withOptions(({ secrets = [] }) => ({
      secrets: async (context) =>
        (typeof secrets === 'function' ? await secrets(context) : secrets).map((each) => each.trim()),
    })),
  },
  {
    name: 'logs the body of a request that it does not process',
    caughtBy: ['logs no body, secret or signature'],
    create: around(async (request, receive, { log }) => {
      const body = await request.body();
      const response = await receive({ ...request, body: async () => body });
      if (response.status !== 200 && body.kind === 'bytes') log?.error({ code: '' }, text(body.bytes));
      return response;
    }),
  },
  {
    name: 'closes without waiting',
    caughtBy: ['refuses requests once it is closing, aborts the signal and waits for the handler'],
    create: (options) => ({ ...createWebhookReceiver(options), close: async () => {} }),
  },
];
