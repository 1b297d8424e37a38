import { createLogin } from '@deedwire/embedded-postgres';
import { Client } from 'pg';
import { median } from 'simple-statistics';
import { type Child, startChild } from '../../child.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import { startOurApp } from '../../graphql/our-app.ts';
import type { Part } from '../part.ts';
import { fairMarkdown, type FairResult } from '../report.ts';
import { withStack } from '../stack.ts';
import { createReferralRequest, issueClients } from '../write/our-clients.ts';

const crowdConnections = 128;
const otherConnections = 32;
const lockedConnections = 8;
const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com' };

export const fair: Part<FairResult> = {
  summary: `createReferral of a client beside ${crowdConnections} connections of another, and beside an account that is locked`,

  async run({ quick, progress }) {
    const { rounds, roundMs, lockedMs } = quick
      ? { rounds: 1, roundMs: 500, lockedMs: 500 }
      : { rounds: 5, roundMs: 10_000, lockedMs: 30_000 };
    return withStack({ receivers: 0 }, async ({ system }, defer) => {
      progress('Starting the app');
      const accounts = await system.addAccounts(Array.from({ length: crowdConnections + 2 }, () => []));
      const [probeHeaders = {}, lockedHeaders = {}, ...crowdHeaders] = await issueClients(system.databaseUrl, accounts);
      const { url } = await startOurApp({
        interfaceName: 'partner',
        databaseUrl: await createLogin(system.databaseUrl, 'bench_partner_api', 'partner_api'),
        secretKeys: `${system.forWorkers.keyId}:${system.forWorkers.key}`,
        built: false,
        // As shipped, so that mutations of the locked account are refused. A quick run is shorter than that.
        env: quick ? {} : { DATABASE_TIMEOUT_MS: '2500' },
        defer,
      });
      const start = async (): Promise<Child<LoadRequest, LoadResult>> => {
        const { child } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
        defer(() => child.close());
        return child;
      };
      const [load, probe] = [await start(), await start()];
      const request = (headers: readonly Record<string, string>[], connections: number, durationMs: number) => ({
        ...createReferralRequest(url, headers, input),
        connections,
        durationMs,
      });

      const besideCrowd = async (headers: readonly Record<string, string>[], durationMs: number): Promise<number> => {
        const crowd = load.ask(request(headers, crowdConnections, durationMs));
        const { p99Ms } = await probe.ask(request([probeHeaders], 1, durationMs));
        await crowd;
        return p99Ms;
      };
      const others = (durationMs: number): Promise<LoadResult> =>
        load.ask(request(crowdHeaders.slice(0, otherConnections), otherConnections, durationMs));
      const locker = new Client(system.databaseUrl);
      await locker.connect();
      defer(() => locker.end());
      const besideLocked = async (): Promise<{ others: LoadResult; locked: LoadResult }> => {
        await locker.query('begin');
        await locker.query('select from account where id = $1 for update', [accounts[1]]);
        const locked = probe.ask({ ...request([lockedHeaders], lockedConnections, lockedMs), mayRefuse: true });
        const result = await others(lockedMs);
        await locker.query('rollback');
        return { others: result, locked: await locked };
      };

      progress('Warm-up');
      // One after another: the app knows none of the keys yet, and an address may try 50 of those in a second.
      for (const headers of [probeHeaders, lockedHeaders, ...crowdHeaders]) await probe.ask(request([headers], 1, 0));
      await besideCrowd(crowdHeaders, roundMs / 2);
      const measured: { spreadMs: number; oneMs: number; alone: number; beside: number; refused: number }[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        const spreadMs = await besideCrowd(crowdHeaders, roundMs);
        const oneMs = await besideCrowd(crowdHeaders.slice(0, 1), roundMs);
        const alone = perSecond(await others(roundMs));
        const { others: beside, locked } = await besideLocked();
        measured.push({ spreadMs, oneMs, alone, beside: perSecond(beside), refused: locked.refused });
        progress(
          `Round ${round} of ${rounds}: p99 ${spreadMs.toFixed(1)} and ${oneMs.toFixed(1)} ms, ${Math.round(alone)} and ${Math.round(perSecond(beside))}/s`,
        );
      }
      const medianOf = (value: (each: (typeof measured)[number]) => number): number => median(measured.map(value));
      return {
        rounds,
        roundMs,
        crowd: {
          connections: crowdConnections,
          spreadP99Ms: medianOf(({ spreadMs }) => spreadMs),
          oneClientP99Ms: medianOf(({ oneMs }) => oneMs),
          p99Ratio: medianOf(({ oneMs, spreadMs }) => oneMs / spreadMs),
        },
        locked: {
          connections: otherConnections,
          lockedConnections,
          lockedMs,
          alonePerSecond: medianOf(({ alone }) => alone),
          besidePerSecond: medianOf(({ beside }) => beside),
          rateRatio: medianOf(({ alone, beside }) => beside / alone),
          refused: medianOf(({ refused }) => refused),
        },
      };
    });
  },

  markdown: fairMarkdown,
};

function perSecond({ requests, elapsedMs }: LoadResult): number {
  return (requests / elapsedMs) * 1000;
}
