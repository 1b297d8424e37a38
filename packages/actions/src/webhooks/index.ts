/** The statements that the bench measures by themselves. */
export { findFirstNumbered } from './pull/first-numbered.ts';
export { type PullPosition, readNumberedPage } from './pull/numbered-page.ts';
export { selectEventBodies } from './pull/event-bodies.ts';
export { selectPulledSubscription } from './pull/statements.ts';
export { cancelReplay, insertReplay, type ReplayRow, selectReplay } from './replay/replays.ts';
export { insertEventTypePins } from './subscriptions/subscriptions.ts';
export { insertSubscription, reserveSubscriptionId } from './subscriptions/subscriptions.ts';
