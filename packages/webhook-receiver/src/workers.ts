import type { WebhookReceiver } from './receiver.ts';

/** The part of the execution context of Workers that is used. */
export interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Handles requests on Workers: `export default { fetch: workersHandler(receiver) }`. The function for secrets gets the bindings.
 * The handler of an event finishes if the client disconnects, within the time that Workers allow for it.
 */
export function workersHandler<Bindings = unknown>(
  receiver: WebhookReceiver<Bindings>,
): (request: Request, bindings: Bindings, execution: ExecutionContext) => Promise<Response> {
  return (request, bindings, execution) => {
    const response = receiver.fetch(request, bindings);
    // Workers stop whatever a request started when its client disconnects, except this.
    execution.waitUntil(response);
    return response;
  };
}
