import {
  accountMarkdown,
  fairMarkdown,
  hangingMarkdown,
  latencyMarkdown,
  memoryMarkdown,
  ratesMarkdown,
  storeMarkdown,
  workersMarkdown,
  writeMarkdown,
} from '../delivery/report.ts';
import { graphqlTables } from '../graphql/report.ts';
import { comparisonTables, type Machine } from '../report.ts';
import type { Results } from './results.ts';

/** The generated regions of the page, by name. */
export function regions({ delivery, graphql, sender, signing }: Results): Record<string, string> {
  const { history, statements } = delivery;
  const [first, last] = [history.sizes.at(0), history.sizes.at(-1)].map((size) =>
    size?.storedDeliveries.toLocaleString('en-US'),
  );
  return {
    machine: machines([delivery, graphql, sender, signing]),
    graphql: graphqlTables(graphql),
    delivery: [ratesMarkdown(delivery), commitsLine(delivery.commits)].join('\n\n'),
    latency: [latencyMarkdown(delivery.latency), hangingMarkdown(delivery.hanging)].join('\n\n'),
    growth: `From ${first} to ${last} stored deliveries, the statements of a new delivery take ${history.growth.newEvents.toFixed(2)} × the time, and those of a delivery that waits when the worker starts ${history.growth.backlog.toFixed(2)} ×. At one event per second, a delivery takes ${statements.perDelivery.toFixed(1)} statements.`,
    limits: [workersMarkdown(delivery.workers), storeMarkdown(delivery.store), accountMarkdown(delivery.account)].join(
      '\n\n',
    ),
    write: writeMarkdown(delivery.write),
    fair: fairMarkdown(delivery.fair),
    memory: memoryMarkdown(delivery.memory),
    sender: comparisonTables(sender),
    signing: comparisonTables(signing),
  };
}

/** Parts of a bench can be measured alone. */
function commitsLine(commits: Readonly<Record<string, string>>): string {
  const parts = Map.groupBy(Object.keys(commits), (part) => commits[part] ?? '');
  const each = Array.from(parts, ([commit, names]) => `${names.map((name) => `\`${name}\``).join(', ')} at ${commit}`);
  return `Measured: ${each.join('; ')}.`;
}

/** Where the figures come from. */
function machines(reports: readonly { quick: boolean; machine: Machine }[]): string {
  const lines = reports.map(
    ({ machine: { node, platform, cores, cpu } }) => `Node ${node} on ${platform} with ${cores} cores (${cpu})`,
  );
  const measured = `Measured with ${[...new Set(lines)].join(', and with ')}.`;
  return reports.some(({ quick }) => quick) ? `${measured} Quick runs: the figures are not meaningful.` : measured;
}
