import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyMax, readChunks, type ReceivedBody } from './body.ts';
import type { ReceivedRequest, WebhookReceiver } from './receiver.ts';
import type { ReceiverResponse } from './responses.ts';

/** A request of `node:http`, or of a framework on top of it that may have parsed its body and kept the bytes. */
export type NodeRequest = IncomingMessage & { body?: unknown; rawBody?: unknown };

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
  write(response, await receiver.receive(receivedRequest(request, fix), context));
}

/** @internal */
export function receivedRequest(request: NodeRequest, fix: string): ReceivedRequest {
  const { method = '', headers, headersDistinct } = request;
  // Simulated requests, as of serverless-http or the `inject` of Fastify, have `headers` only.
  const isSimulated = headersDistinct === undefined || Object.keys(headersDistinct).length === 0;
  return { method, headers: isSimulated ? headers : headersDistinct, body: () => readNodeBody(request, fix) };
}

async function readNodeBody(request: NodeRequest, fix: string): Promise<ReceivedBody> {
  // Parsers of frameworks that keep the bytes put them here. Those of NestJS and Firebase also parse the body.
  const kept = [request.rawBody, request.body].find((bytes) => bytes instanceof Uint8Array);
  if (kept !== undefined) return kept.byteLength > bodyMax ? { kind: 'too-large' } : { kind: 'bytes', bytes: kept };
  if (request.readableDidRead || request.readableEnded || request.readableFlowing === true)
    return { kind: 'not-raw', fix };
  // A stream with an encoding has strings, which are not what was signed, and no bytes to count.
  if (typeof request.readableEncoding === 'string')
    return { kind: 'not-raw', fix: 'Do not call request.setEncoding(), which decodes the body.' };
  return readChunks(request.iterator({ destroyOnReturn: false }), request.headers['content-length']);
}

function write(response: ServerResponse, { status, headers, body }: ReceiverResponse): void {
  // The client has closed the connection, or a middleware has answered, for example after a timeout.
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
