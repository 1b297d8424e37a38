/** One arrival of an event that has a name. */
export interface Arrival {
  probe: string;
  /** When the head of the request was read, by `machineMs()`. */
  atMs: number;
}

export interface ReceiverReport {
  requests: number;
  /** The number of distinct delivery ids. */
  deliveries: number;
  arrivals: Arrival[];
}

/** Each request is answered by a ReceiverReport. A report covers what arrived since the last `forget`. */
export type ReceiverRequest =
  | { request: 'forget' }
  /** Answered as soon as `deliveries` distinct ids have arrived, or after `timeoutMs`, without the arrivals, which can be many. */
  | { request: 'wait'; deliveries: number; timeoutMs: number }
  | { request: 'report' };
