/**
 * Runs one contestant in this process: `contestant-process.ts <bench> <comparison> <contestant> <settings as JSON>`. Each
 * message is a duration in milliseconds; each response is a Measurement. The process ends when its parent disconnects.
 */
import { benchNamed } from './benches/index.ts';
import type { Measurement } from './rounds.ts';

const [benchName = '', title = '', name = '', settings = '{}'] = process.argv.slice(2);
const comparison = benchNamed(benchName)?.comparisons.find((each) => each.title === title);
const start = comparison?.contestants[name];
if (start === undefined) throw new Error(`The bench ${benchName} has no contestant ${name} in "${title}".`);
const contestant = await start(JSON.parse(settings));

async function measure(durationMs: number): Promise<Measurement> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const operations = await contestant.run(durationMs);
  const { user, system } = process.cpuUsage(startCpu);
  return { operations, elapsedMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

process.on('message', (durationMs: number) => {
  void measure(durationMs).then((measurement) => process.send?.(measurement));
});
process.once('disconnect', () => {
  // A receiver may hold connections open, so the process would not end without process.exit.
  void Promise.resolve(contestant.close?.()).then(() => process.exit(0));
});
process.send?.('ready');
