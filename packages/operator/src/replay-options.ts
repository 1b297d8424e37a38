import { setTimeout as sleep } from 'node:timers/promises';
import {
  type OperatorContext,
  readWebhookReplay,
  orRefuse,
  replayWebhookEvents,
  type ReplayWebhookEventsResult,
  type WebhookReplay,
} from '@deedwire/actions';
import { type Command, InvalidArgumentError } from 'commander';
import { createProgress, type Progress } from './progress.ts';
import { withContext } from './session.ts';
import type { Shell } from './shell.ts';
import { parsePastTime, pastTimes } from './time-options.ts';
import { notes, type OutputOptions, print } from './verb.ts';

export interface ReplayOptions extends OutputOptions {
  since?: Date;
  until?: Date;
  fromSequence?: number;
  toSequence?: number;
  eventType?: string[];
  all?: true;
  maxPerSecond: number;
  dryRun?: true;
  wait?: true;
}

/** Adds the options of a replay, and a help text with `example`, which names the subscription. */
export function addReplayOptions(verb: Command, example: string): Command {
  return verb
    .option('--since <time>', `only deliveries that were created at this time or later: ${pastTimes}`, parsePastTime)
    .option('--until <time>', 'only deliveries that were created before this time, in the same forms', parsePastTime)
    .option('--from-sequence <number>', 'only deliveries with this sequence or a larger one', parseNumber)
    .option('--to-sequence <number>', 'only deliveries with this sequence or a smaller one', parseNumber)
    .option('--event-type <type...>', 'only deliveries of these event types')
    .option('--all', 'also deliveries that did not fail; needs --since or --from-sequence')
    .option('--max-per-second <number>', 'how many deliveries are queued per second, 1 to 500', parseNumber, 50)
    .option('--dry-run', 'only count the deliveries')
    .option('--wait', 'show the progress until the replay has ended')
    .addHelpText(
      'after',
      notes(`
The replay survives restarts and waits while the subscription is paused. Ctrl+C ends --wait, not the replay.
It skips pending deliveries; \`delivery send-pending\` sends them now.

  ${example} --since 2026-11-20 --dry-run
  ${example} --since 2026-11-20 --wait`),
    );
}

/** Replays deliveries of a subscription, or counts them, and prints the result. */
export async function replayAndPrint(shell: Shell, subscriptionId: string, options: ReplayOptions): Promise<void> {
  const { all, eventType: eventTypes, maxPerSecond, since, until, fromSequence, toSequence, dryRun } = options;
  const range = { since, until, fromSequence, toSequence, eventTypes, onlyFailed: all !== true };
  const replayed = await withContext(shell, async (context) => {
    const input = { subscriptionId, ...range, maxPerSecond, dryRun };
    const result: ReplayWebhookEventsResult = orRefuse(await replayWebhookEvents(context, context.operator, input));
    const { estimate, webhookReplay } = result;
    if (estimate !== null) return estimate;
    if (webhookReplay === null) throw new Error('The replay has neither an estimate nor a record.');
    if (options.wait !== true) return webhookReplay;
    const progress = createProgress(shell, options);
    // Ctrl+C ends the wait, and `cancel-replay` takes the id.
    if (!options.json) shell.stderr.write(`The replay ${webhookReplay.id} runs.\n`);
    return untilEnded(progress, context, webhookReplay).finally(() => progress.end());
  });
  print(shell, options, replayed, (result) => ('id' in result ? describeReplay(result) : describeEstimate(result)));
}

function parseNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

const progressMs = 500;

/** Shows the progress of a replay until it has ended. */
async function untilEnded(
  progress: Progress,
  context: OperatorContext,
  started: WebhookReplay,
): Promise<WebhookReplay> {
  for (let replay = started; ; replay = await readWebhookReplay(context, { replayId: started.id })) {
    if (replay.status !== 'RUNNING') return replay;
    progress.report(progressOf(replay));
    await sleep(progressMs);
  }
}

const barLength = 20;

function progressOf(replay: WebhookReplay): string {
  const { position, waitsFor } = replay;
  const done = Math.floor(position * barLength);
  const bar = `${'#'.repeat(done)}${'.'.repeat(barLength - done)}`;
  return `[${bar}] ${Math.floor(position * 100)} %, ${countsOf(replay)}${waitsFor === null ? '' : `, waits for ${waitsFor}`}`;
}

export function describeReplay(replay: WebhookReplay): string {
  return `The replay ${replay.id} is ${replay.status}: ${countsOf(replay)}`;
}

function countsOf({ queuedCount, skippedCount, skippedPendingCount }: WebhookReplay): string {
  const pending = skippedPendingCount ? ` (${skippedPendingCount.toLocaleString('en')} pending)` : '';
  return `${queuedCount.toLocaleString('en')} queued, ${skippedCount.toLocaleString('en')} skipped${pending}`;
}

type Estimate = NonNullable<ReplayWebhookEventsResult['estimate']>;

function describeEstimate({ count, isLowerBound, byType, seconds }: Estimate): string {
  if (count === 0) return 'No deliveries match. Those that did not fail match only with --all.';
  const total = `${isLowerBound ? 'At least ' : ''}${count.toLocaleString('en')} deliveries, at least ${seconds.toLocaleString('en')} seconds`;
  return [total, ...byType.map((row) => `  ${row.type}: ${row.count.toLocaleString('en')}`)].join('\n');
}
