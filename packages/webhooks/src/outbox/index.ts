export { eventRow, insertEvent, workerOf } from './insert-event.ts';
export { insertTestEvent } from './insert-event.ts';
export { appendSubscriptionChange } from './append-subscription-change.ts';
