import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '@deedwire/testing';
import { placed } from './delivery.ts';

export interface StoredEvent {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly isTest: boolean;
  readonly payload: string | null;
}

/** What a request asked for. */
export interface PageVariables {
  readonly id: string;
  readonly first: number;
  readonly after: string | null;
  readonly since: string | null;
  readonly waitSeconds: number;
}

export interface PullRequest {
  readonly variables: PageVariables;
  readonly headers: IncomingMessage['headers'];
}

/** Responds in place of the API. Resolves with false to let the API respond. */
export type Interrupt = (response: ServerResponse, request: PullRequest) => Promise<boolean> | boolean;

export const subscriptionId = 'gid://service/WebhookSubscription/7';
export const credentials = { clientId: 'client', apiKey: 'key', organizationId: 'organization' };

/** An API with one subscription, whose `webhookEvents` has the shape of the real one. */
export class PullServer {
  events: StoredEvent[] = [];
  lastSequence = 0;
  /** A page is cut as that of the API: this number replaces the bytes. */
  pageMax = 100;
  requests: PullRequest[] = [];
  interrupt: Interrupt | null = null;
  url = '';
  close: () => Promise<void> = async () => {};

  async start(): Promise<this> {
    const listening = await listen(createServer((request, response) => void this.#respond(request, response)));
    this.url = `http://127.0.0.1:${listening.port}/graphql`;
    this.close = () => listening.close();
    return this;
  }

  /** Adds typical events, and returns their deliveries. */
  add(count: number, { timestamp = new Date().toISOString(), type = placed.type } = {}): StoredEvent[] {
    const added = Array.from({ length: count }, () => {
      this.lastSequence += 1;
      const id = `gid://service/WebhookEvent/${this.lastSequence}`;
      const payload = JSON.stringify({ ...placed, id, type, timestamp });
      const deliveryId = `gid://service/WebhookDelivery/${this.lastSequence}`;
      return { sequence: this.lastSequence, deliveryId, isTest: false, payload };
    });
    this.events.push(...added);
    return added;
  }

  /** As retention does. */
  expire(upTo: number): void {
    this.events = this.events.filter(({ sequence }) => sequence > upTo);
  }

  async #respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { variables } = JSON.parse(Buffer.concat(chunks).toString());
    const request = { variables, headers: incoming.headers };
    this.requests.push(request);
    if (this.interrupt !== null && (await this.interrupt(response, request))) return;
    if (incoming.headers['x-service-api-key'] !== credentials.apiKey)
      return respondWith(response, { errors: [error('UNAUTHENTICATED')] }, 401);
    const endMs = performance.now() + variables.waitSeconds * 1_000;
    for (;;) {
      const content = this.#page(variables);
      const isEmpty = 'data' in content && content.data?.webhookEvents?.edges.length === 0;
      if (!isEmpty || performance.now() >= endMs || response.destroyed) return respondWith(response, content);
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
  }

  #page({ id, first, after, since }: PageVariables) {
    if (id !== subscriptionId) return { data: { webhookEvents: null } };
    const { lastSequence } = this;
    const firstKeptSequence = this.events[0]?.sequence ?? null;
    const base = after === null ? null : Number(/^cursor-of-7-(\d+)$/.exec(after)?.[1]);
    if (Number.isNaN(base)) return { data: { webhookEvents: null }, errors: [error('BAD_USER_INPUT')] };
    if (base !== null && base < lastSequence && (firstKeptSequence === null || firstKeptSequence > base + 1))
      return { data: { webhookEvents: null }, errors: [error('CURSOR_EXPIRED', { firstKeptSequence })] };
    const isAfter = ({ sequence, payload }: StoredEvent): boolean =>
      base === null
        ? since === null || (payload !== null && Date.parse(JSON.parse(payload).timestamp) >= Date.parse(since))
        : sequence > base;
    const start = this.events.findIndex(isAfter);
    const page = start === -1 ? [] : this.events.slice(start, start + Math.min(first, this.pageMax));
    const last = page.at(-1)?.sequence ?? base ?? lastSequence;
    const edges = page.map(({ sequence, ...node }) => ({ sequence, node }));
    const endCursor = lastSequence === 0 ? null : `cursor-of-7-${last}`;
    return { data: { webhookEvents: { edges, pageInfo: { endCursor }, lastSequence, firstKeptSequence } } };
  }
}

export function error(code: string, more: object = {}): object {
  return { message: `It is ${code}.`, extensions: { code, ...more } };
}

export function respondWith(response: ServerResponse, content: object, status = 200, headers = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(content));
}
