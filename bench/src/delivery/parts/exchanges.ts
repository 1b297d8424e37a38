import { measureOurPair, type PairResult } from '../our-pair.ts';
import type { Part } from '../part.ts';
import { pairMarkdown } from '../report.ts';

export const exchanges: Part<PairResult> = {
  summary: 'deliveries per second with the details of attempts, and without (WEBHOOK_EXCHANGE_RETENTION_DAYS=0)',

  // Longer than those of other parts: a worker that was idle may keep the details of 200 successes at once.
  run: ({ quick, perRound = quick ? 200 : 32_000, progress }) =>
    measureOurPair([{ name: 'with details' }, { name: 'without', env: { WEBHOOK_EXCHANGE_RETENTION_DAYS: '0' } }], {
      quick,
      rounds: quick ? 1 : 10,
      perRound,
      progress,
    }),

  markdown: pairMarkdown,
};
