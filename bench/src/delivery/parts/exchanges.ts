import { startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { startOurs } from '../ours/start-ours.ts';
import type { Part } from '../part.ts';
import { rateRatio, rateResult, runRateRounds } from '../rate-rounds.ts';
import { startReceiverChild } from '../receiver-child.ts';
import { exchangesMarkdown, type ExchangesResult } from '../report.ts';
import { receiverCount, workloads } from '../workloads.ts';

const kept = 'with details';
const notKept = 'without';

export const exchanges: Part<ExchangesResult> = {
  summary: 'deliveries per second with the details of attempts, and without (WEBHOOK_EXCHANGE_RETENTION_DAYS=0)',

  async run({ quick, perRound = quick ? 200 : 8_000, progress }) {
    const rounds = quick ? 1 : 10;
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const receiver = await startReceiverChild(receiverCount);
      defer(() => receiver.close());
      const contestants = [
        await startOurs({ postgres, receiver, defer }, { name: kept }),
        await startOurs(
          { postgres, receiver, defer },
          { name: notKept, database: 'without', env: { WEBHOOK_EXCHANGE_RETENTION_DAYS: '0' } },
        ),
      ];
      const results: ExchangesResult['workloads'] = [];
      for (const [index, workload] of workloads.entries()) {
        const warmUpRounds = quick || index > 0 ? 1 : 3;
        const measured = await runRateRounds(
          contestants,
          receiver,
          workload,
          { warmUpRounds, rounds, perRound },
          progress,
        );
        const [withDetails = [], without = []] = [measured.get(kept), measured.get(notKept)];
        results.push({
          name: workload.name,
          title: workload.title,
          results: [rateResult(kept, withDetails), rateResult(notKept, without)],
          rateRatio: rateRatio(withDetails, without),
        });
      }
      return { rounds, perRound, workloads: results };
    });
  },

  markdown: exchangesMarkdown,
};
