import type { PeerName } from '../peers/index.ts';

/** The queues that commit a job together with a row of the application. This file imports none of them. */
export const writePeerNames = ['pg-boss', 'graphile-worker'] as const satisfies readonly PeerName[];
export type WritePeerName = (typeof writePeerNames)[number];
