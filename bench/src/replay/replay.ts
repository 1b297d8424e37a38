import { type Bench, benchOfParts, part } from '../bench.ts';
import { measureBeside } from './parts/beside.ts';
import { measureGrowth } from './parts/growth.ts';
import { measurePull } from './parts/pull.ts';
import { measureRate } from './parts/rate.ts';
import * as report from './report.ts';

export const replay: Bench = benchOfParts({
  name: 'replay',
  summary: 'replays of the webhook engine: their rate, and what they cost new events; and pages of events',
  options: {
    stored: {
      value: 'number',
      summary:
        'deliveries of the larger history of growth and pull; the default is 1,000,000, which takes half a minute to store',
      isCount: true,
    },
  },
  parts: {
    rate: part(
      'the rate of a replay beside that of new events in an idle subscription, for receivers of 20, 100 and 400 ms',
      measureRate,
      report.rateMarkdown,
    ),
    beside: part(
      'the latency of new events beside a replay of 100,000 deliveries to a slow receiver, and that of another account',
      measureBeside,
      report.besideMarkdown,
    ),
    growth: part(
      'the time of the statements of a replay with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',
      measureGrowth,
      report.growthMarkdown,
    ),
    pull: part(
      'the time of a page of `webhookEvents` with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',
      measurePull,
      report.pullMarkdown,
    ),
  },
});
