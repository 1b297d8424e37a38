import { measureOurPair, type PairResult } from '../../delivery/our-pair.ts';
import type { Part } from '../../delivery/part.ts';
import { ours, pairMarkdown } from '../../delivery/report.ts';
import { readCheckout } from '../checkout.ts';

export const deliveries: Part<PairResult> = {
  summary: 'deliveries per second, in the workloads of `delivery`',

  async run({ quick, perRound = quick ? 200 : 16_000, values, progress }) {
    const { name, folder } = readCheckout(values['beside']);
    const rounds = quick ? 1 : 10;
    return measureOurPair([{ name: ours }, { name, checkout: folder }], { quick, rounds, perRound, progress });
  },

  markdown: pairMarkdown,
};
