import type { Deliveries } from './deliveries.ts';
import type { EventName, KeptEvents } from './kept-events.ts';
import type { Reports } from './report.ts';
import { refusal } from './responses.ts';
import type { Settings } from './settings.ts';
import type { InboxDelivery } from './webhook-inbox.ts';

export interface KeptResult {
  /** Or accepted by the inbox. They are no longer kept. What was processed before is not counted. */
  readonly processed: number;
  /** They are logged and still kept. What another process processes now is not counted. */
  readonly failed: number;
}

/**
 * Processes the events that `keepUnhandled` keeps and that have a handler now.
 *
 * @param tracked lets `close` wait for a work
 */
export async function processKept(
  { events, keepUnhandled }: Pick<Settings<unknown>, 'events' | 'keepUnhandled'>,
  deliveries: Deliveries,
  reports: Reports,
  closing: AbortSignal,
  tracked: <Result>(work: Promise<Result>) => Promise<Result>,
): Promise<KeptResult> {
  if (keepUnhandled === undefined) throw new TypeError('processKept needs keepUnhandled.');
  const result = { processed: 0, failed: 0 };
  for (const name of await keepUnhandled.names())
    for await (const delivery of deliveriesOf(keepUnhandled, name)) {
      if (closing.aborted) return result;
      const startMs = performance.now();
      const parsed = events.parseWebhookBody(delivery.body);
      const outcome =
        parsed.kind === 'event'
          ? await tracked(
              deliveries.processEvent(
                parsed.event,
                { ...delivery, ...deliveries.idsOf(parsed.event, delivery.id) },
                'It stays kept.',
              ),
            )
          : parsed.kind === 'malformed'
            ? refusal(400, 'BODY_MALFORMED', 'Deedwire sends no such body. It stays kept.', {
                problems: parsed.problems,
              })
            : null;
      // Nor have the others of this type and version one.
      if (outcome === null) break;
      reports.add({ ...outcome, delivery: { id: delivery.id, ...name } }, startMs);
      const isDone = outcome.response.status < 300;
      if (isDone) await keepUnhandled.remove(delivery.id);
      // Another process counts it.
      if (outcome.code !== 'DUPLICATE' && outcome.code !== 'BUSY') result[isDone ? 'processed' : 'failed'] += 1;
    }
  return result;
}

async function* deliveriesOf(kept: KeptEvents, name: EventName): AsyncGenerator<InboxDelivery> {
  for (let page = await kept.page(name, null); page.length > 0; page = await kept.page(name, page.at(-1)?.id ?? null))
    yield* page;
}
