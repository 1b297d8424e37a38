import { type MeanRatio, meanRatio } from '../geometric-mean.ts';
import { startBenchPostgres } from '../postgres.ts';
import { withCleanup } from '../with-cleanup.ts';
import { type OursOptions, startOurs } from './ours/start-ours.ts';
import { rateRatio, type RateResult, rateRatios, rateResult, runRateRounds } from './rate-rounds.ts';
import { startReceiverChild } from './receiver-child.ts';
import { receiverCount, workloads } from './workloads.ts';

/** Two of our engines, which differ in one point. */
export interface PairResult {
  rounds: number;
  perRound: number;
  workloads: {
    name: string;
    title: string;
    results: RateResult[];
    /** The rate of the first divided by that of the second in the same round: the median. */
    rateRatio: number;
  }[];
  /** The same over the rounds of all workloads. */
  rateRatio: MeanRatio;
}

export interface PairPlan {
  quick: boolean;
  rounds: number;
  perRound: number;
  progress: (line: string) => void;
}

/** Measures two of our engines in interleaved rounds of all workloads. */
export async function measureOurPair(
  [first, second]: readonly [OursOptions, OursOptions],
  { quick, rounds, perRound, progress }: PairPlan,
): Promise<PairResult> {
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const receiver = await startReceiverChild(receiverCount);
    defer(() => receiver.close());
    const contestants = [
      await startOurs({ postgres, receiver, defer }, { database: 'first', ...first }),
      await startOurs({ postgres, receiver, defer }, { database: 'second', ...second }),
    ];
    const results: PairResult['workloads'] = [];
    const ratios: number[] = [];
    for (const [index, workload] of workloads.entries()) {
      const warmUpRounds = quick || index > 0 ? 1 : 3;
      const plan = { warmUpRounds, rounds, perRound };
      const measured = await runRateRounds(contestants, receiver, workload, plan, progress);
      const [ofFirst = [], ofSecond = []] = [measured.get(first.name), measured.get(second.name)];
      ratios.push(...rateRatios(ofFirst, ofSecond));
      results.push({
        name: workload.name,
        title: workload.title,
        results: [rateResult(first.name, ofFirst), rateResult(second.name, ofSecond)],
        rateRatio: rateRatio(ofFirst, ofSecond),
      });
    }
    return { rounds, perRound, workloads: results, rateRatio: meanRatio(ratios) };
  });
}
