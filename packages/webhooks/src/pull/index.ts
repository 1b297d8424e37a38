export { type PulledKind, type PulledSubscription, selectNumberOf, selectPulledSubscription } from './statements.ts';
export { createEventWaits, type EventWait, type EventWaits, type EventWaitsOptions } from './event-waits.ts';
export { type EventBody, pageBytesMax, selectEventBodies } from './event-bodies.ts';
export { type NumberedRow } from './numbered-row.ts';
export { type PullPosition, readNumberedPage, type NumberedPage } from './numbered-page.ts';
export { findFirstNumbered, type FirstNumbered, isLastBefore } from './first-numbered.ts';
