import type { AccountPins } from '../subscriptions/read-pins.ts';
import { type BlockedGroup, blockedOnRefusal } from './blocked-queue.ts';
import type { Renderer } from './renderer.ts';

/**
 * Whether blocked entries can be fanned out: this build knows their type, and the version that their subscription pins if
 * they are for one. Subscriptions that are paused because they pin a retired version do not count. Entries that the database
 * refused are retried.
 */
export function mayGoOn(
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
