/** The messages to a peer process. `add` is answered by the string `added`, `drain` by a Measurement. */
export type PeerRequest =
  /** Adds deliveries that take turns over the receivers. */
  { request: 'add'; deliveries: number; firstReceiver: number; receivers: number } | { request: 'drain' };
