export { appendEvent } from './append-event.ts';
export { appendSubscriptionChange } from './append-subscription-change.ts';
