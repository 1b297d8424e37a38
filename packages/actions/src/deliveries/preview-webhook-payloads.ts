import { RenderError, type Renderer } from '@deedwire/webhooks/renderer';
import type { ActionContext } from '../kernel/context.ts';
import { InvalidArgumentError } from '../kernel/errors.ts';
import { describeUnknownVersion, pinnableEventVersions } from '../subscriptions/webhook-event-types.ts';
import { selectSnapshots } from '../webhooks/deliveries/snapshots.ts';
import { idOf, type WebhookDelivery } from './webhook-deliveries.ts';

export interface PreviewContext extends ActionContext {
  renderer: Pick<Renderer, 'render'>;
}

export interface PreviewRequest {
  /** A result of another use case, which has checked that the caller may see it. */
  delivery: WebhookDelivery;
  /** One that a subscription can pin. */
  version: string;
}

/**
 * The body of each delivery's event at a version, rendered now. Null if no valid payload can be rendered from what is stored, or if
 * the event is deleted.
 *
 * @returns an error for a request with a version that cannot be pinned
 */
export async function previewWebhookPayloads(
  context: PreviewContext,
  requests: readonly PreviewRequest[],
): Promise<(string | null | InvalidArgumentError)[]> {
  const now = context.now();
  const wanted = requests.map(({ delivery: { event }, version }) => {
    const available = pinnableEventVersions(context.service, event.type, now);
    return available.includes(version)
      ? { ...event, id: idOf(context, 'WebhookEvent', event.id), version }
      : new InvalidArgumentError(describeUnknownVersion(event.type, version, available));
  });
  const ids = wanted.flatMap((each) => (each instanceof InvalidArgumentError ? [] : [each.id]));
  const snapshots = await selectSnapshots(context.store, ids);
  return wanted.map((each) => {
    if (each instanceof InvalidArgumentError) return each;
    const { id, type, version, timestamp } = each;
    if (!snapshots.has(id)) return null;
    try {
      const event = { id, type, occurredAt: timestamp, snapshot: snapshots.get(id) };
      return context.renderer.render(event, version).toString('utf8');
    } catch (error) {
      if (error instanceof RenderError) return null;
      throw error;
    }
  });
}
