import { meanRatio, rateRatio, rateRatios } from '../rounds.ts';
import { type OursOptions, startOurs } from './ours/start-ours.ts';
import { measureWorkloads, rateResult } from './rate-rounds.ts';
import { withServers } from './stack.ts';
import { receiverCount } from './workloads.ts';

export type PairResult = Awaited<ReturnType<typeof measureOurPair>>;

/** Measures two of our engines, which differ in one point, in interleaved rounds of all workloads. */
export async function measureOurPair(
  [first, second]: readonly [OursOptions, OursOptions],
  { quick, perRound, progress }: { quick: boolean; perRound: number; progress: (line: string) => void },
) {
  const rounds = quick ? 1 : 10;
  return withServers(receiverCount, async ({ postgres, receiver }, defer) => {
    const contestants = [
      await startOurs({ postgres, receiver, defer }, { database: 'first', ...first }),
      await startOurs({ postgres, receiver, defer }, { database: 'second', ...second }),
    ];
    const measured = await measureWorkloads(contestants, receiver, { quick, rounds, perRound, progress });
    const ratios: number[] = [];
    const workloads = measured.map(({ measured: of, ...workload }) => {
      const [own, other] = [of.get(first.name) ?? [], of.get(second.name) ?? []];
      ratios.push(...rateRatios(own, other));
      const results = [rateResult(first.name, own), rateResult(second.name, other)];
      return { ...workload, results, rateRatio: rateRatio(own, other) };
    });
    return { rounds, perRound, workloads, rateRatio: meanRatio(ratios) };
  });
}
