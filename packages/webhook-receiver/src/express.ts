import type { ServerResponse } from 'node:http';
import { type NodeRequest, receiveNode } from './node.ts';
import type { WebhookReceiver } from './receiver.ts';

const fix = "Mount the receiver before express.json(), or give its route express.raw({ type: '*/*', limit: '300kb' }).";

/** Handles a route of Express 4 or 5: `app.post('/webhooks', expressHandler(receiver))`. */
export function expressHandler(receiver: WebhookReceiver): (request: NodeRequest, response: ServerResponse) => void {
  return (request, response) => void receiveNode(receiver, request, response, undefined, fix);
}
