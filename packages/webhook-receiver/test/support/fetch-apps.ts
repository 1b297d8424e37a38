// Also bundled for other runtimes, so it imports nothing of Node and nothing by a path into `src`.
import type { WebhookReceiver } from '@deedwire/webhook-receiver';
import { honoHandler } from '@deedwire/webhook-receiver/hono';
import { type ExecutionContext, Hono } from 'hono';
import type { Mount } from './setup.ts';

/** Answers a request of the Fetch API. Only Workers pass `execution`. */
export type FetchApp = (request: Request, execution?: ExecutionContext) => Promise<Response>;

/** A receiver behind a function of the Fetch API, as the README mounts it. */
export const fetchApps = {
  fetch(receiver: WebhookReceiver, mount: Mount): FetchApp {
    return async (request, execution) => {
      if (mount === 'consumed') await request.text();
      if (mount === 'parser') await request.clone().json();
      return receiver.fetch(request, undefined, execution);
    };
  },

  hono(receiver: WebhookReceiver, mount: Mount): FetchApp {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      if (mount === 'consumed') await req.raw.text();
      if (mount === 'parser') await req.json();
      await next();
    });
    app.all('/webhooks', honoHandler(receiver));
    return async (request, execution) => app.fetch(request, {}, execution);
  },
} as const;
