import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';
import type { Renderer } from './renderer.ts';
import type { PickedEntry } from './round-plan.ts';
import { type BlockedGroup, blockedOnRefusal } from './sql/blocked-queue.ts';
import type { ReadEvents } from './sql/events.ts';

/**
 * Whether blocked entries can be fanned out: this build knows their type, and the version that their subscription pins if
 * they are for one. Subscriptions that are paused because they pin a retired version do not count. Entries that the database
 * refused are retried.
 */
export function canContinue(
  { blockedOn, subscriptionId }: Pick<BlockedGroup, 'blockedOn' | 'subscriptionId'>,
  pins: AccountPins | undefined,
  renderer: Renderer,
): boolean {
  if (blockedOn === blockedOnRefusal || pins === undefined) return true;
  for (const { id, versions, pausedReason } of pins.subscriptions) {
    if (subscriptionId !== null && subscriptionId !== id) continue;
    const version = versions.get(blockedOn);
    if (version === undefined || pausedReason === 'VERSION_RETIRED') continue;
    if (!renderer.knowsType(blockedOn)) return false;
    if (subscriptionId !== null && !renderer.knows(blockedOn, version)) return false;
  }
  return true;
}

/**
 * Whether a round renders the entry. A blocked entry is not rendered, so it cannot end the process, and its claims are not
 * counted.
 */
export function isRenderable(
  { account, entry: { eventId, subscriptionId } }: PickedEntry,
  { events }: ReadEvents,
  pins: ReadonlyMap<AccountId, AccountPins>,
  renderer: Renderer,
): boolean {
  const event = eventId === null ? undefined : events.get(eventId);
  if (event === undefined || !renderer.knowsType(event.type)) return false;
  return (
    subscriptionId === null || canContinue({ blockedOn: event.type, subscriptionId }, pins.get(account.id), renderer)
  );
}
