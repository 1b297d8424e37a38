// The server that `runtimes.ts` bundles with the built package and starts on another runtime.
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import type { ExecutionContext } from 'hono';
import { type FetchApp, fetchApps } from './fetch-apps.ts';
import { type Hooks, type Mount, optionsOf, type Setup } from './setup.ts';

export interface ServerSettings {
  readonly app: keyof typeof fetchApps;
  /** The server of the test, which answers for the hooks. */
  readonly hooksUrl: string;
}

/** A receiver of the process. Its address is `/<index>/webhooks`. */
interface Served {
  readonly handle: FetchApp;
  readonly controls: Readonly<Record<string, (value: unknown) => unknown>>;
}

declare global {
  /** Set before this module. */
  var serverSettings: ServerSettings;
}

const { app, hooksUrl } = serverSettings;
const served = new Map<string, Served>();

function serve(index: string, { setup, mount }: { setup: Setup; mount: Mount }): Served {
  async function callHook(name: keyof Hooks, value: unknown): Promise<void> {
    const response = await fetch(`${hooksUrl}/${index}/${name}`, { method: 'POST', body: JSON.stringify(value) });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
  }
  const hooks: Hooks = {
    handle: (call) => callHook('handle', call),
    handleUnknown: (event) => callHook('handleUnknown', event),
  };
  const recorded = { logged: [], signals: new Map<string, AbortSignal>() };
  const receiver = createWebhookReceiver(optionsOf(setup, memoryStore(), hooks, recorded));
  let closed: Promise<void> | undefined;
  return {
    handle: fetchApps[app](receiver, mount),
    controls: {
      forget: (ids) => receiver.forget({ ids: Array.isArray(ids) ? ids.map(String) : [] }),
      logged: () => recorded.logged,
      isAborted: (id) => recorded.signals.get(String(id))?.aborted === true,
      close() {
        closed = receiver.close();
      },
      closed: () => closed,
    },
  };
}

export default {
  // Bun reads these two.
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request: Request, bindings: object, execution?: ExecutionContext): Promise<Response> {
    const [, index = '', control = ''] = new URL(request.url).pathname.split('/');
    if (control === 'start') {
      served.set(index, serve(index, JSON.parse(await request.text())));
      return Response.json(null);
    }
    const of = served.get(index);
    if (of === undefined) throw new Error(`No receiver ${index} was started.`);
    if (control === 'webhooks') return of.handle(request, bindings, execution);
    const result: unknown = await of.controls[control]?.(await request.json());
    return Response.json(result ?? null);
  },
};
