import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';
import { mayGoOn } from './may-go-on.ts';
import type { ReadEvents } from './read-events.ts';
import type { Renderer } from './renderer.ts';
import type { PickedEntry } from './round-plan.ts';

/**
 * Whether a round renders the entry. A blocked entry is not rendered, so it cannot end the process, and its claims are not
 * counted.
 */
export function willRender(
  { account, entry: { eventId, subscriptionId, isRefused } }: PickedEntry,
  { events }: ReadEvents,
  pins: ReadonlyMap<AccountId, AccountPins>,
  renderer: Renderer,
): boolean {
  const event = eventId === null ? undefined : events.get(eventId);
  if (event === undefined || isRefused || !renderer.knowsType(event.type)) return false;
  return subscriptionId === null || mayGoOn({ blockedOn: event.type, subscriptionId }, pins.get(account.id), renderer);
}
