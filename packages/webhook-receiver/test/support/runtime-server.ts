// The server that `runtimes.ts` bundles with the built package and starts on another runtime.
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import type { ExecutionContext } from 'hono';
import { type FetchApp, fetchApps } from './fetch-apps.ts';
import { type Hooks, type Mount, optionsOf, type Setup } from './setup.ts';

export interface ServerSettings {
  readonly app: keyof typeof fetchApps;
  readonly setup: Setup;
  readonly mount: Mount;
  /** The server of the test, which answers for the hooks. */
  readonly hooksUrl: string;
}

declare global {
  /** Set before this module. */
  var serverSettings: ServerSettings;
}

const { app, setup, mount, hooksUrl } = serverSettings;

async function callHook(name: keyof Hooks, value: unknown): Promise<void> {
  const response = await fetch(`${hooksUrl}/${name}`, { method: 'POST', body: JSON.stringify(value) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}

const hooks: Hooks = {
  handle: (call) => callHook('handle', call),
  handleUnknown: (event) => callHook('handleUnknown', event),
};
const recorded = { logged: [], signals: new Map<string, AbortSignal>() };
const receiver = createWebhookReceiver(optionsOf(setup, memoryStore(), hooks, recorded));
const handle: FetchApp = fetchApps[app](receiver, mount);
let closed: Promise<void> | undefined;

/** What the test asks of the receiver. */
const controls: Readonly<Record<string, (value: unknown) => unknown>> = {
  forget: (ids) => receiver.forget({ ids: Array.isArray(ids) ? ids.map(String) : [] }),
  logged: () => recorded.logged,
  isAborted: (id) => recorded.signals.get(String(id))?.aborted === true,
  close() {
    closed = receiver.close();
  },
  closed: () => closed,
};

export default {
  // Bun reads these two.
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request: Request, bindings: object, execution?: ExecutionContext): Promise<Response> {
    const [, control] = /^\/control\/(\w+)$/.exec(new URL(request.url).pathname) ?? [];
    if (control === undefined) return handle(request, bindings, execution);
    const result: unknown = await controls[control]?.(await request.json());
    return Response.json(result ?? null);
  },
};
