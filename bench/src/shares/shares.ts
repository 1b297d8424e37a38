import type { Bench } from '../bench.ts';
import { startChild } from '../child.ts';
import { buildApps, startOurApp } from '../graphql/our-app.ts';
import { median } from '../median.ts';
import { startBenchPostgres } from '../postgres.ts';
import { describeMachine } from '../report.ts';
import { withCleanup } from '../with-cleanup.ts';
import { type AttackName, type AttackRequest, attacks } from './attacks/index.ts';
import type { AttackResult, VictimRequest, VictimResult } from './protocol.ts';
import { type AppWork, type AttackReport, type SharesReport, sharesMarkdown } from './report.ts';
import { createSharesWorld } from './world.ts';

interface SharesPlan {
  rounds: number;
  roundMs: number;
  warmUpMs: number;
}

const full: SharesPlan = { rounds: 3, roundMs: 2_500, warmUpMs: 3_000 };
const short: SharesPlan = { rounds: 2, roundMs: 500, warmUpMs: 200 };

export const shares: Bench = {
  name: 'shares',
  summary: 'the latency of a client beside another client that takes as much of the partner interface as it can',
  parts: Object.fromEntries(Object.entries(attacks).map(([name, { title }]) => [name, title])),
  perRound: null,
  options: null,

  async run({ quick, only, progress }) {
    const plan = quick ? short : full;
    const { rounds, roundMs } = plan;
    const names = attackNames().filter((name) => only === undefined || only === name);
    const measured = await measure(names, plan, !quick, progress);
    const report: SharesReport = {
      bench: 'shares',
      quick,
      machine: describeMachine(),
      rounds,
      roundMs,
      attacks: measured,
    };
    return { json: report, markdown: sharesMarkdown(report) };
  },
};

function attackNames(): AttackName[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
  return Object.keys(attacks) as AttackName[];
}

function measure(
  names: readonly AttackName[],
  plan: SharesPlan,
  built: boolean,
  progress: (line: string) => void,
): Promise<AttackReport[]> {
  return withCleanup(async (defer) => {
    if (built) {
      progress('Building the app');
      await buildApps(['partner-api']);
    }
    progress('Starting PostgreSQL and the app');
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const world = await createSharesWorld(await postgres.createDatabase('bench'), names.length * plan.rounds);
    const { databaseUrl, secretKeys } = world;
    const app = await startOurApp({ interfaceName: 'partner', databaseUrl, secretKeys, built, defer });
    const { child: victim } = await startChild<VictimRequest, VictimResult>('./shares/victim-process.ts');
    defer(() => victim.close());
    const measureVictim = (durationMs: number) => victim.ask({ url: app.url, headers: world.victim, durationMs });
    const readWork = async (): Promise<AppWork> => ({
      cpuMs: (await app.usage()).cpuMs,
      documentsParsed: await app.count('deedwire_documents_parsed_total'),
    });
    await measureVictim(plan.warmUpMs);

    const reports: AttackReport[] = [];
    for (const name of names) {
      const rounds: AttackReport['rounds'] = [];
      for (let round = 1; round <= plan.rounds; round += 1) {
        const started = await readWork();
        const alone = await measureVictim(plan.roundMs);
        const between = await readWork();
        // A new process for each round: its connections end with it.
        const { child: attacker } = await startChild<AttackRequest, AttackResult>('./shares/attack-process.ts');
        const headers = world.attackers.pop() ?? {};
        const attack = attacker.ask({ name, url: app.url, headers, durationMs: plan.roundMs });
        const beside = await measureVictim(plan.roundMs);
        const attacked = await attack;
        await attacker.close();
        const ended = await readWork();
        const work = { alone: difference(started, between), beside: difference(between, ended) };
        const p99Ratio = beside.p99Ms / alone.p99Ms;
        rounds.push({ alone, beside, p99Ratio, work, attack: attacked });
        progress(
          `${name}, round ${round}: p99 ${alone.p99Ms.toFixed(1)} ms alone, ${beside.p99Ms.toFixed(1)} ms beside (${p99Ratio.toFixed(2)} ×); ${JSON.stringify(attacked)}`,
        );
      }
      const p99Ratio = median(rounds.map((each) => each.p99Ratio));
      reports.push({ name, title: attacks[name].title, p99Ratio, rounds });
    }
    return reports;
  });
}

function difference(before: AppWork, after: AppWork): AppWork {
  return { cpuMs: after.cpuMs - before.cpuMs, documentsParsed: after.documentsParsed - before.documentsParsed };
}
