/**
 * Runs one contestant in this process: `contestant-process.ts <bench> <comparison> <contestant> <settings as JSON>`. Each
 * message is a duration in milliseconds; each response is a Measurement. The process ends when its parent disconnects.
 */
import { comparisonBenches } from './benches/comparison-benches.ts';
import { measure } from './measure.ts';

const [benchName = '', title = '', name = '', settings = '{}'] = process.argv.slice(2);
const bench = comparisonBenches.find((each) => each.name === benchName);
const comparison = bench?.comparisons.find((each) => each.title === title);
const start = comparison?.contestants[name];
if (start === undefined) throw new Error(`The bench ${benchName} has no contestant ${name} in "${title}".`);
const contestant = await start(JSON.parse(settings));

process.on('message', (durationMs: number) => {
  void measure(async () => contestant.run(durationMs)).then((measurement) => process.send?.(measurement));
});
process.once('disconnect', () => {
  // A receiver may hold connections open, so the process would not end without process.exit.
  void Promise.resolve(contestant.close?.()).then(() => process.exit(0));
});
process.send?.('ready');
