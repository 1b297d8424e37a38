import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyMax, readChunks, type ReceivedBody } from './body.ts';
import type { WebhookReceiver } from './receiver.ts';
import type { ReceiverResponse } from './responses.ts';

/** A request of `node:http`, or of a framework on top of it that may have parsed its body. */
export type NodeRequest = IncomingMessage & { body?: unknown };

const defaultFix = 'Let nothing read the request before the receiver.';

/** Handles the requests of `node:http`: `createServer(nodeHandler(receiver))`, or a route of a server. */
export function nodeHandler<Context = unknown>(
  receiver: WebhookReceiver<Context>,
): (request: NodeRequest, response: ServerResponse, context?: Context) => void {
  return (request, response, context) => void receiveNode(receiver, request, response, context, defaultFix);
}

/**
 * @internal
 * @param fix what to change if the framework has parsed the body
 */
export async function receiveNode<Context>(
  receiver: WebhookReceiver<Context>,
  request: NodeRequest,
  response: ServerResponse,
  context: Context | undefined,
  fix: string,
): Promise<void> {
  const { method = '', headersDistinct: headers } = request;
  write(response, await receiver.receive({ method, headers, body: () => readNodeBody(request, fix) }, context));
}

/** @internal */
export async function readNodeBody(request: NodeRequest, fix: string): Promise<ReceivedBody> {
  // Parsers of frameworks that keep the bytes put them here.
  if (request.body instanceof Uint8Array)
    return request.body.byteLength > bodyMax ? { kind: 'too-large' } : { kind: 'bytes', bytes: request.body };
  if (request.readableDidRead || request.readableEnded || request.readableFlowing === true)
    return { kind: 'not-raw', fix };
  if (Number(request.headers['content-length']) > bodyMax) return { kind: 'too-large' };
  return readChunks(request.iterator({ destroyOnReturn: false }));
}

function write(response: ServerResponse, { status, headers, body }: ReceiverResponse): void {
  // The client has closed the connection, or a middleware has answered, for example after a timeout.
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
