/**
 * Runs one contestant in this process: `contestant-process.ts <bench> <comparison> <contestant> <settings as JSON>`. Each
 * message is a duration in milliseconds; each response is a Measurement.
 */
import { serveParent } from '../child.ts';
import { measure } from '../rounds.ts';
import { sender } from './sender.ts';
import { signing } from './signing.ts';

const [benchName = '', title = '', name = '', settings = '{}'] = process.argv.slice(2);
const bench = [sender, signing].find((each) => each.name === benchName);
const comparison = bench?.comparisons.find((each) => each.title === title);
const start = comparison?.contestants[name];
if (start === undefined) throw new Error(`The bench ${benchName} has no contestant ${name} in "${title}".`);
const contestant = await start(JSON.parse(settings));

serveParent<number>(
  'ready',
  (durationMs) => measure(async () => contestant.run(durationMs)),
  () => contestant.close?.(),
);
