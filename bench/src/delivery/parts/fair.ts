import { Client } from 'pg';
import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-process.ts';
import { startLoad } from '../../graphql/load.ts';
import { perSecond } from '../../rounds.ts';
import { withStack } from '../stack.ts';
import { createReferralRequest, issueClients } from '../write/our-clients.ts';
import { startPartnerApi } from '../write/our-contestants.ts';

const crowdConnections = 128;
const otherConnections = 32;
const lockedConnections = 8;

type Headers = readonly Record<string, string>[];

export function measureFair({ quick, progress }: BenchOptions) {
  const [rounds, roundMs, lockedMs] = quick ? [1, 500, 500] : [5, 10_000, 30_000];
  return withStack(0, async ({ system }, defer) => {
    progress('Starting the app');
    const accounts = await system.addAccounts(Array.from({ length: crowdConnections + 2 }, () => []));
    const [probeHeaders = {}, lockedHeaders = {}, ...crowdHeaders] = await issueClients(system.databaseUrl, accounts);
    // As shipped, so that mutations of the locked account are refused. A quick run is shorter than that.
    const env: Record<string, string> = quick ? {} : { DATABASE_TIMEOUT_MS: '2500' };
    const { url } = await startPartnerApi(system, { built: false, env, defer });
    const [load, probe] = [await startLoad(defer), await startLoad(defer)];
    const request = (headers: Headers, connections: number, durationMs: number): LoadRequest => ({
      ...createReferralRequest(url, headers),
      connections,
      durationMs,
    });

    const besideCrowd = async (headers: Headers, durationMs: number): Promise<number> => {
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

    progress('Warm-up');
    // One after another: the app knows none of the keys yet, and an address may try 50 of those in a second.
    for (const headers of [probeHeaders, lockedHeaders, ...crowdHeaders]) await probe.ask(request([headers], 1, 0));
    await besideCrowd(crowdHeaders, roundMs / 2);
    const measured: { spreadMs: number; oneMs: number; alone: number; beside: number; refused: number }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const spreadMs = await besideCrowd(crowdHeaders, roundMs);
      const oneMs = await besideCrowd(crowdHeaders.slice(0, 1), roundMs);
      const alone = perSecond(await others(roundMs));
      await locker.query('begin');
      await locker.query('select from account where id = $1 for update', [accounts[1]]);
      const locked = probe.ask({ ...request([lockedHeaders], lockedConnections, lockedMs), mayRefuse: true });
      const beside = perSecond(await others(lockedMs));
      await locker.query('rollback');
      measured.push({ spreadMs, oneMs, alone, beside, refused: (await locked).refused });
      progress(
        `Round ${round} of ${rounds}: p99 ${spreadMs.toFixed(1)} and ${oneMs.toFixed(1)} ms, ${Math.round(alone)} and ${Math.round(beside)}/s`,
      );
    }
    const medianOf = (value: (each: (typeof measured)[number]) => number): number => median(measured.map(value));
    return {
      rounds,
      roundMs,
      // The p99 of the mutations of a client alone on one connection, beside the load of many clients, and of one.
      crowd: {
        connections: crowdConnections,
        spreadP99Ms: medianOf(({ spreadMs }) => spreadMs),
        oneClientP99Ms: medianOf(({ oneMs }) => oneMs),
        p99Ratio: medianOf(({ oneMs, spreadMs }) => oneMs / spreadMs),
      },
      // The rate of other clients, alone and while a client writes to an account that is locked.
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
}
