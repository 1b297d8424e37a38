import { comparisonTables } from '../comparisons/comparison.ts';
import * as report from '../delivery/report.ts';
import { graphqlTables } from '../graphql/report.ts';
import { type ReportHead, times, wholeNumber } from '../report.ts';
import { comparedMarkdown } from '../versions/compare.ts';
import type { Results } from './results.ts';

/** The generated regions of the page, by name. */
export function regions({ delivery, graphql, sender, signing, versions }: Results): Record<string, string> {
  const { history, statements } = delivery;
  const [first = 0, last = 0] = [history.sizes.at(0), history.sizes.at(-1)].map((size) => size?.storedDeliveries);
  const { newEvents, backlog } = history.growth;
  return {
    machine: machines([delivery, graphql, sender, signing, versions]),
    graphql: graphqlTables(graphql),
    delivery: blocks(report.ratesMarkdown(delivery), commitsLine(delivery.commits)),
    latency: blocks(report.latencyMarkdown(delivery.latency), report.hangingMarkdown(delivery.hanging)),
    growth: `From ${wholeNumber(first)} to ${wholeNumber(last)} stored deliveries, the statements of a new delivery take ${times(newEvents)} the time, and those of a delivery that waits when the worker starts ${times(backlog)}. At one event per second, a delivery takes ${statements.perDelivery.toFixed(1)} statements.`,
    limits: blocks(
      report.workersMarkdown(delivery.workers),
      report.storeMarkdown(delivery.store),
      report.accountMarkdown(delivery.account),
    ),
    write: report.writeMarkdown(delivery.write),
    fair: report.fairMarkdown(delivery.fair),
    memory: report.memoryMarkdown(delivery.memory),
    sender: comparisonTables(sender),
    signing: comparisonTables(signing),
    versions: blocks(...[versions.write, versions.deliveries, versions.idle, versions.queries].map(comparedMarkdown)),
  };
}

const blocks = (...texts: string[]): string => texts.join('\n\n');

/** Parts of a bench can be measured alone. */
function commitsLine(commits: Readonly<Record<string, string>>): string {
  const parts = Map.groupBy(Object.keys(commits), (part) => commits[part] ?? '');
  const each = Array.from(parts, ([commit, names]) => `${names.map((name) => `\`${name}\``).join(', ')} at ${commit}`);
  return `Measured: ${each.join('; ')}.`;
}

/** Where the figures come from. */
function machines(reports: readonly ReportHead[]): string {
  const lines = reports.map(
    ({ machine: { node, platform, cores, cpu } }) => `Node ${node} on ${platform} with ${cores} cores (${cpu})`,
  );
  const measured = `Measured with ${[...new Set(lines)].join(', and with ')}.`;
  return reports.some(({ quick }) => quick) ? `${measured} Quick runs: the figures are not meaningful.` : measured;
}
