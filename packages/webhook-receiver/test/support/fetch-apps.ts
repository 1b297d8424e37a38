// Also bundled for other runtimes, so it imports nothing of Node and nothing by a path into `src`.
import type { WebhookReceiver } from '@deedwire/webhook-receiver';
import { honoHandler } from '@deedwire/webhook-receiver/hono';
import { workersHandler } from '@deedwire/webhook-receiver/workers';
import { type ExecutionContext, Hono } from 'hono';
import type { Mount } from './setup.ts';

/** Answers a request of the Fetch API, and gets what Workers pass. Other platforms pass no `execution`. */
export type FetchApp = (request: Request, bindings: object, execution?: ExecutionContext) => Promise<Response>;

function withMount(mount: Mount, handle: FetchApp): FetchApp {
  return async (request, ...passed) => {
    if (mount === 'consumed') await request.text();
    if (mount === 'parser') await request.clone().json();
    return handle(request, ...passed);
  };
}

/** A receiver behind a function of the Fetch API, as the README mounts it. */
export const fetchApps = {
  fetch: (receiver: WebhookReceiver, mount: Mount): FetchApp => withMount(mount, (request) => receiver.fetch(request)),

  workers(receiver: WebhookReceiver, mount: Mount): FetchApp {
    const handle = workersHandler(receiver);
    return withMount(mount, (request, bindings, execution) => {
      if (execution === undefined) throw new Error('This is not a Worker.');
      return handle(request, bindings, execution);
    });
  },

  hono(receiver: WebhookReceiver, mount: Mount): FetchApp {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      if (mount === 'consumed') await req.raw.text();
      if (mount === 'parser') await req.json();
      await next();
    });
    // With or without a segment before it: several receivers of a process have one.
    app.all('*', honoHandler(receiver));
    return async (request, bindings, execution) => app.fetch(request, bindings, execution);
  },
} as const;
