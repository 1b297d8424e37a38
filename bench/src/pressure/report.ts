import type { ResultOf } from '../bench.ts';
import { markdownTable, wholeNumber } from '../report.ts';
import type { LeftOut } from './disk.ts';
import type { Pressed } from './measure.ts';
import type { measureSoak } from './soak.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const milliseconds = (ms: number | null): string => (ms === null ? '–' : `${wholeNumber(ms)} ms`);
const seconds = (ms: number | null): string => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`);
const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
const cores = (value: number | null): string => (value === null ? '–' : value.toFixed(2));

export function phasesMarkdown({ phases }: { phases: readonly Pressed[] }): string {
  return markdownTable([
    [
      'Pressure',
      'events/s',
      'of the rate',
      'backlog',
      'gone after',
      'p99 before',
      'during',
      'after',
      'dead rows',
      'PostgreSQL before',
      'during',
      'repeated',
    ],
    ...phases.map((phase) => [
      `${phase.title}: ${phase.contestant}`,
      wholeNumber(phase.during.committedPerSecond),
      percent(phase.share),
      wholeNumber(phase.backlogMost),
      seconds(phase.backlogGoneMs),
      ...[phase.before, phase.during, phase.after].map(({ p99Ms }) => milliseconds(p99Ms)),
      wholeNumber(phase.tables.reduce((sum, { deadRows }) => sum + deadRows.most, 0)),
      cores(phase.postgresCpu.before),
      cores(phase.postgresCpu.during),
      wholeNumber(phase.repeats),
    ]),
  ]);
}

export function diskMarkdown(result: { phases: Pressed[] } | LeftOut): string {
  return 'leftOut' in result ? `Left out. ${result.leftOut}` : phasesMarkdown(result);
}

export function soakMarkdown(result: ResultOf<typeof measureSoak>): string {
  const { durationMs, perSecond, events, p99Ms, deadRows, bytesPerEvent, workerBytes, repeats } = result;
  return [
    `${wholeNumber(durationMs / 60_000)} minutes at ${wholeNumber(perSecond)} events per second: ${wholeNumber(events)} events, ${wholeNumber(repeats)} repeated.`,
    `p99 ${milliseconds(p99Ms)}.`,
    `Dead rows: ${wholeNumber(deadRows.last)} at the end, ${wholeNumber(deadRows.perHour)} more per hour.`,
    `Tables: ${wholeNumber(bytesPerEvent)} bytes per event.`,
    `Worker: ${mebibytes(workerBytes.last)} at the end, ${mebibytes(workerBytes.perHour)} more per hour.`,
  ].join(' ');
}
