import type { Context } from 'hono';
import { bodyMax, readRequest, type ReceivedBody } from './body.ts';
import type { WebhookReceiver } from './receiver.ts';

const fix = 'Let no middleware read the body of its route, except with context.req.text() or context.req.json().';

/**
 * Handles a route of Hono 4: `app.post('/webhooks', honoHandler(receiver))`. The function for secrets gets `context.env`, on
 * Workers the bindings. There, the handler finishes if the client disconnects.
 */
export function honoHandler<Bindings>(receiver: WebhookReceiver<Bindings>): (context: Context) => Promise<Response> {
  return async (context) => {
    const { req, env } = context;
    const body = async (): Promise<ReceivedBody> => {
      if (!req.raw.bodyUsed) return readRequest(req.raw);
      // Hono keeps what a middleware has read. Only these keep the bytes; `json()` keeps the text.
      const { arrayBuffer, blob, text } = req.bodyCache;
      if (arrayBuffer === undefined && blob === undefined && text === undefined) return { kind: 'not-raw', fix };
      const bytes = new Uint8Array(await req.arrayBuffer());
      return bytes.byteLength > bodyMax ? { kind: 'too-large' } : { kind: 'bytes', bytes };
    };
    const received = receiver.receive({ method: req.method, headers: req.raw.headers, body }, env);
    executionOf(context)?.waitUntil(received);
    const response = await received;
    return new Response(response.body, response);
  };
}

/** Undefined on platforms other than Workers, where Hono throws. */
function executionOf(context: Context): Context['executionCtx'] | undefined {
  try {
    return context.executionCtx;
  } catch {
    return undefined;
  }
}
