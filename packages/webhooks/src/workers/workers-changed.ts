/**
 * The payload of the notification that a worker joined or left, or that shards became free. The engine then calls
 * `Workers.wake()`. All other payloads are numbers of shards; APIs of earlier releases send others, too.
 */
export const workersChanged = 'workers';
