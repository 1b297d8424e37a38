import type { AccountPins } from '../subscriptions/read-pins.ts';
import type { BlockReason } from './blocked-entries.ts';
import type { Renderer } from './renderer.ts';

/**
 * Whether blocked entries can be fanned out: this build knows every version that their subscriptions pin. Subscriptions that
 * are paused because they pin a retired version do not count. Entries that the database refused are retried.
 */
export function mayGoOn(
  { eventType, subscriptionId }: BlockReason,
  pins: AccountPins | undefined,
  renderer: Renderer,
): boolean {
  if (eventType === null || pins === undefined) return true;
  for (const { id, versions, pausedReason } of pins.subscriptions) {
    if (subscriptionId !== null && subscriptionId !== id) continue;
    const version = versions.get(eventType);
    if (version === undefined || pausedReason === 'VERSION_RETIRED') continue;
    if (!renderer.knowsType(eventType) || !renderer.knows(eventType, version)) return false;
  }
  return true;
}
