import { markdownTable } from '../markdown-table.ts';
import { median } from '../median.ts';
import { introduction, type Machine } from '../report.ts';
import type { AttackName } from './attacks/index.ts';
import type { AttackResult, VictimResult } from './protocol.ts';

/** What `pnpm bench shares --json` prints. */
export interface SharesReport {
  bench: 'shares';
  /** True for a short run that only shows that the bench works. */
  quick: boolean;
  machine: Machine;
  rounds: number;
  roundMs: number;
  attacks: AttackReport[];
}

/** What the app did in a round. */
export interface AppWork {
  /** User and system time of its process. */
  cpuMs: number;
  /** Documents that it had not cached. */
  documentsParsed: number;
}

export interface AttackReport {
  name: AttackName;
  title: string;
  /** The p99 beside the attack, divided by the p99 alone: the median of the rounds. */
  p99Ratio: number;
  rounds: {
    alone: VictimResult;
    beside: VictimResult;
    p99Ratio: number;
    work: { alone: AppWork; beside: AppWork };
    attack: AttackResult;
  }[];
}

/** Formats the report as Markdown. */
export function sharesMarkdown({ quick, machine, rounds, roundMs, attacks }: SharesReport): string {
  const title = `shares: ${rounds} rounds of ${roundMs} ms alone and ${roundMs} ms beside an attack. "ratio" divides the p99 of a round beside the attack by its p99 alone.`;
  const lines = attacks.flatMap((attack) => [
    ...attack.rounds.map(({ alone, beside, p99Ratio, work, attack: counts }, index) => [
      `${attack.title}, round ${index + 1}`,
      `${alone.p99Ms.toFixed(2)} ms`,
      `${beside.p99Ms.toFixed(2)} ms`,
      `${p99Ratio.toFixed(2)} ×`,
      ...columnsOf(work.alone, work.beside),
      Object.entries(counts)
        .map(([name, count]) => `${name}: ${count.toLocaleString('en-US')}`)
        .join(', '),
    ]),
    [`${attack.title}, median`, ...medians(attack), ''],
  ]);
  const titles = ['attack', 'p99 alone', 'p99 beside', 'ratio', 'CPU alone', 'CPU beside', 'documents parsed'];
  const table = markdownTable([[...titles, 'counts of the attacker'], ...lines]);
  return [introduction(title, quick, machine), table].join('\n\n');
}

function medians({ rounds, p99Ratio }: AttackReport): string[] {
  const of = (value: (round: AttackReport['rounds'][number]) => number): number => median(rounds.map(value));
  return [
    `${of(({ alone }) => alone.p99Ms).toFixed(2)} ms`,
    `${of(({ beside }) => beside.p99Ms).toFixed(2)} ms`,
    `${p99Ratio.toFixed(2)} ×`,
    ...columnsOf(
      { cpuMs: of(({ work }) => work.alone.cpuMs), documentsParsed: 0 },
      { cpuMs: of(({ work }) => work.beside.cpuMs), documentsParsed: of(({ work }) => work.beside.documentsParsed) },
    ),
  ];
}

function columnsOf(alone: AppWork, beside: AppWork): string[] {
  return [
    `${alone.cpuMs.toFixed(0)} ms`,
    `${beside.cpuMs.toFixed(0)} ms`,
    beside.documentsParsed.toLocaleString('en-US'),
  ];
}
