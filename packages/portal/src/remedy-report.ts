import type { ProgressFragment, SubscriptionFieldsFragment } from './generated/documents.ts';
import { timeOf } from './time.ts';
import { failureOf } from './words.ts';

/** What was pending when the deliveries were sent, and how the subscription was before. */
export interface Sent extends ProgressFragment {
  readonly isResumed: boolean;
  readonly before: Pick<SubscriptionFieldsFragment, 'pausedAt'> & { readonly health: Pick<Health, 'breakerOpenUntil'> };
}

type Health = SubscriptionFieldsFragment['health'];
type Now = Pick<SubscriptionFieldsFragment, 'status' | 'pausedReason' | 'pausedAt'> & {
  readonly health: Pick<
    Health,
    'lastFailureAt' | 'pendingCount' | 'pendingCountIsLowerBound' | 'consecutiveFailures' | 'lastFailure'
  >;
};

/** What has happened since. The subscription can have been read before. */
export function outcomeOf({ before, health: sent }: Sent, { status, pausedAt, health }: Now) {
  if (status === 'PAUSED') return pausedAt === before.pausedAt ? 'WAITING' : 'PAUSED';
  if ((health.lastFailureAt ?? '') > (sent.lastFailureAt ?? '')) return 'FAILING';
  return health.pendingCount === 0 && health.consecutiveFailures === 0 ? 'DONE' : 'WAITING';
}

export function pausedText({ isResumed }: Sent, { pausedReason, pausedAt, health: { lastFailure } }: Now): string {
  const isByFailure = pausedReason === 'GONE' || pausedReason === 'FAILING';
  const why = isByFailure && lastFailure ? `: ${failureOf(lastFailure)}` : '';
  return `Paused${isResumed ? ' again' : ''}${why}${pausedAt ? ` at ${timeOf(pausedAt)}` : ''}.`;
}

export function waitingText(sent: Sent, { health }: Now, isLate: boolean): string {
  if (sent.health.pendingCount === 0) return 'Resumed.';
  if (isLate) return `Still waiting: ${amountOf(health)} pending.`;
  const isTried = !sent.isResumed && sent.before.health.breakerOpenUntil !== null && sent.health.pendingCount > 1;
  return isTried ? `Trying one of ${amountOf(sent.health)}…` : `Sending ${amountOf(sent.health)} now…`;
}

export function deliveredText({ health }: Sent): string {
  if (health.pendingCount === 0) return 'Resumed. Nothing was pending.';
  return health.pendingCountIsLowerBound ? 'All were delivered.' : `${health.pendingCount} delivered.`;
}

export function amountOf({
  pendingCount,
  pendingCountIsLowerBound,
}: Omit<ProgressFragment['health'], 'lastFailureAt'>): string {
  return `${pendingCount.toLocaleString('en')}${pendingCountIsLowerBound ? '+' : ''}`;
}
