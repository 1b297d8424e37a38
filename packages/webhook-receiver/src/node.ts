import type { IncomingMessage, ServerResponse } from 'node:http';
import { type KeptBytes, readNodeBody } from './node-body.ts';
import type { WebhookReceiver } from './receiver.ts';
import type { ReceivedRequest } from './requests.ts';
import type { ReceiverResponse } from './responses.ts';

/** A request of `node:http`, or of a framework on top of it that may have parsed its body and kept the bytes. */
export type NodeRequest = IncomingMessage & { body?: unknown; rawBody?: unknown };

const defaultFix =
  'Let nothing read the request before the receiver. For a request of Fastify, including under NestJS, use fastifyHandler(receiver)(request, reply).';

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

/**
 * @internal
 * @param kept where the framework keeps the bytes
 */
export function receivedRequest(request: NodeRequest, fix: string, kept: KeptBytes = request): ReceivedRequest {
  const raw = isOfFastify(request) ? request.raw : request;
  const { method = '', headers, headersDistinct } = raw;
  // Simulated requests, as of serverless-http or the `inject` of Fastify, have `headers` only.
  const isSimulated = headersDistinct === undefined || Object.keys(headersDistinct).length === 0;
  return { method, headers: isSimulated ? headers : headersDistinct, body: () => readNodeBody(raw, fix, kept) };
}

/** What JavaScript can pass. */
function isOfFastify(request: NodeRequest): request is NodeRequest & { raw: NodeRequest } {
  return 'raw' in request;
}

function write(response: ServerResponse, { status, headers, body }: ReceiverResponse): void {
  // The client has closed the connection, or a middleware has answered, for example after a timeout.
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
