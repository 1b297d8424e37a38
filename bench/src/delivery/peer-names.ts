/** The queues that we compare with. This file imports none of them. */
export const peerNames = ['bare', 'pg-boss', 'graphile-worker', 'bullmq'] as const;
export type PeerName = (typeof peerNames)[number];

/** Those that commit a job together with a row of the application. */
export const writePeerNames = ['pg-boss', 'graphile-worker'] as const satisfies readonly PeerName[];
export type WritePeerName = (typeof writePeerNames)[number];
