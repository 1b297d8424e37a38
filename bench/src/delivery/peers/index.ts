import { startBare } from './bare.ts';
import { startBullMq } from './bullmq.ts';
import { startGraphileWorker } from './graphile-worker.ts';
import type { StartPeer } from './peer.ts';
import { startPgBoss } from './pg-boss.ts';

export type PeerName = 'bare' | 'pg-boss' | 'graphile-worker' | 'bullmq';

export const peers: Readonly<Record<PeerName, StartPeer>> = {
  bare: startBare,
  'pg-boss': startPgBoss,
  'graphile-worker': startGraphileWorker,
  bullmq: startBullMq,
};
