import type { ServerResponse } from 'node:http';
import { type NodeRequest, receiveNode } from './node.ts';
import type { WebhookReceiver } from './receiver.ts';

const fix = 'Add to the file of the route: export const config = { api: { bodyParser: false } };';

/** Handles a route of the App Router of Next.js: `export const POST = nextHandler(receiver)` in `route.ts`. */
export function nextHandler(receiver: WebhookReceiver): (request: Request) => Promise<Response> {
  return (request) => receiver.fetch(request);
}

/**
 * Handles a route of the Pages Router: `export default nextPagesHandler(receiver)` in `pages/api`, with
 * `export const config = { api: { bodyParser: false } }` beside it.
 */
export function nextPagesHandler(
  receiver: WebhookReceiver,
): (request: NodeRequest, response: ServerResponse) => Promise<void> {
  return (request, response) => receiveNode(receiver, request, response, undefined, fix);
}
