import { setTimeout as sleep } from 'node:timers/promises';
import {
  cancelReplayOfSubscription,
  countedDeliveriesMax,
  listAllWebhookSubscriptions,
  pauseSubscription,
  type OperatorContext,
  readWebhookReplay,
  readWebhookSubscription,
  replaySubscription,
  resumePausedSubscription,
  rotateSecretOfSubscription,
  sendTestEvent,
  type ShownSubscription,
  type WebhookReplay,
  type WebhookSubscription,
} from '@deedwire/actions';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { afterOption, limitOption, readList, type Window } from '../limit.ts';
import { createProgress } from '../progress.ts';
import { readSecretKeys, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { parseDuration, parseTime } from '../time-options.ts';
import { addVerb, print, printList, type OutputOptions } from '../verb.ts';

interface ListOptions extends OutputOptions, Window {
  account?: string;
  status?: WebhookSubscription['status'];
}

export function addSubscriptionCommands(program: Command, shell: Shell): void {
  const noun = program.command('subscription').description('manage webhook subscriptions');

  addVerb(noun, 'list', 'list webhook subscriptions, newest first')
    .option('--account <gid>', 'only those of this lender or partner')
    .addOption(new Option('--status <status>', 'only active or paused ones').choices(['ACTIVE', 'PAUSED']))
    .addOption(limitOption())
    .addOption(afterOption())
    .addHelpText(
      'after',
      '\n  deedwire-operator subscription list --account gid://service/Partner/4711\n  deedwire-operator subscription list --status PAUSED',
    )
    .action(async (options: ListOptions) => {
      const filter = { accountId: options.account ?? null, status: options.status ?? null };
      const listed = await readList(shell, 'webhookSubscriptions', options, (context, request) =>
        listAllWebhookSubscriptions(context, { ...filter, ...request }),
      );
      printList(shell, options, listed, {
        columns: {
          subscription: (row) => row.id,
          account: (row) => row.accountId,
          status: (row) => row.pausedReason ?? row.status,
          'event types': (row) => row.eventTypes.length,
          'callback URL': (row) => row.callbackUrl,
          created: (row) => row.createdAt,
        },
        empty:
          'No subscriptions match. Their owners create them with `createWebhookSubscription`; find an account with `deedwire-operator account list`.',
      });
    });

  addVerb(noun, 'show <gid>', 'show a subscription, its event types and what is known about its receiver')
    .addHelpText('after', '\n  deedwire-operator subscription show gid://service/WebhookSubscription/4711')
    .action(async (subscriptionId: string, options: OutputOptions) => {
      const shown = await withContext(shell, (context) => readWebhookSubscription(context, { subscriptionId }));
      print(shell, options, shown, describeAll);
    });

  addVerb(noun, 'replay <gid>', 'send the failed deliveries of a subscription again, behind new ones')
    .option('--since <time>', 'only deliveries that were created at this time or later', parseTime)
    .option('--until <time>', 'only deliveries that were created before this time', parseTime)
    .option('--from-sequence <number>', 'only deliveries with this sequence or a larger one', parseNumber)
    .option('--to-sequence <number>', 'only deliveries with this sequence or a smaller one', parseNumber)
    .option('--event-type <type...>', 'only deliveries of these event types')
    .option('--all', 'also deliveries that did not fail; needs --since or --from-sequence')
    .option('--max-per-second <number>', 'how many deliveries are queued per second, 1 to 500', parseNumber, 50)
    .option('--dry-run', 'only count the deliveries')
    .option('--wait', 'show the progress until the replay has ended')
    .addHelpText(
      'after',
      `
The replay survives restarts and waits while the subscription is paused. Ctrl+C ends --wait, not the replay.

  deedwire-operator subscription replay gid://service/WebhookSubscription/4711 --since 2026-11-20 --dry-run
  deedwire-operator subscription replay gid://service/WebhookSubscription/4711 --since 2026-11-20 --wait`,
    )
    .action(async (subscriptionId: string, options: ReplayOptions) => {
      const { all, eventType: eventTypes, maxPerSecond, since, until, fromSequence, toSequence, dryRun } = options;
      const range = { since, until, fromSequence, toSequence, eventTypes, onlyFailed: all !== true };
      const replayed = await withContext(shell, async (context) => {
        const input = { subscriptionId, ...range, maxPerSecond, dryRun };
        const { estimate, webhookReplay } = await replaySubscription(context, input);
        if (estimate !== null) return estimate;
        if (webhookReplay === null) throw new Error('The replay has neither an estimate nor a record.');
        return options.wait === true ? untilEnded(shell, context, webhookReplay) : webhookReplay;
      });
      print(shell, options, replayed, (result) => ('id' in result ? describeReplay(result) : describeEstimate(result)));
    });

  addVerb(noun, 'cancel-replay <gid>', 'stop a replay; what is queued already is sent').action(
    async (replayId: string, options: OutputOptions) => {
      const cancelled = await withContext(shell, (context) => cancelReplayOfSubscription(context, { replayId }));
      print(shell, options, cancelled, describeReplay);
    },
  );

  addVerb(noun, 'pause <gid>', 'pause a subscription for its owner; its events are kept').action(
    async (subscriptionId: string, options: OutputOptions) => {
      const paused = await withContext(shell, (context) => pauseSubscription(context, { subscriptionId }));
      print(shell, options, paused, describe);
    },
  );

  addVerb(noun, 'resume <gid>', 'resume a subscription without a handshake; its kept events are sent').action(
    async (subscriptionId: string, options: OutputOptions) => {
      const resumed = await withContext(shell, (context) => resumePausedSubscription(context, { subscriptionId }));
      print(shell, options, resumed, describe);
    },
  );

  addVerb(
    noun,
    'rotate <gid>',
    'replace the webhook secret by WEBHOOK_SECRET, or by a generated one, and print it once',
  )
    .option('--overlap <duration>', 'how long both secrets sign, 0 to 7d', parseDuration, 86_400)
    .action(async (subscriptionId: string, options: OutputOptions & { overlap: number }) => {
      const secretKeys = readSecretKeys(shell);
      const rotated = await withContext(shell, (context, { WEBHOOK_SECRET: webhookSecret = null }) =>
        rotateSecretOfSubscription(
          { ...context, secretKeys },
          { subscriptionId, webhookSecret, overlapSeconds: options.overlap },
        ),
      );
      print(shell, options, rotated, ({ webhookSecret, webhookSubscription: { rotation } }) =>
        [
          'Store the webhook secret now. It cannot be shown again.',
          webhookSecret,
          rotation === null
            ? 'Only this secret signs now.'
            : `The old secret signs as well until ${rotation.endsAt.toISOString()}.`,
        ].join('\n'),
      );
    });

  addVerb(noun, 'test <gid>', 'send an event with sample data to a subscription')
    .option('--type <type>', 'an event type that the subscription receives', 'webhook.test')
    .action(async (subscriptionId: string, options: OutputOptions & { type: string }) => {
      const { type: eventType } = options;
      const sent = await withContext(shell, (context) => sendTestEvent(context, { subscriptionId, eventType }));
      print(shell, options, sent, ({ webhookEventId }) => `The event ${webhookEventId} is queued`);
    });
}

function describe({ id, pausedReason, pausedAt }: WebhookSubscription): string {
  if (pausedAt === null) return `The subscription ${id} is active`;
  return `The subscription ${id} is paused with ${pausedReason} since ${pausedAt.toISOString()}`;
}

const timeOf = (time: Date | null): string => time?.toISOString() ?? '-';

const countOf = (count: number): string => (count < countedDeliveriesMax ? String(count) : `${count} or more`);

function describeAll(shown: ShownSubscription): string {
  const { rotation, pausedReason, consecutiveFailures } = shown;
  const lines: [name: string, value: string][] = [
    ['subscription', shown.id],
    ['account', `${shown.accountId} (${shown.interfaceName})`],
    ['callback URL', shown.callbackUrl],
    ['status', pausedReason === null ? shown.status : `PAUSED with ${pausedReason} since ${timeOf(shown.pausedAt)}`],
    ['created', timeOf(shown.createdAt)],
    ['rotation', rotation === null ? '-' : `until ${timeOf(rotation.endsAt)}`],
    ['last sequence', String(shown.lastSequence)],
    ['pending', countOf(shown.pendingDeliveries)],
    ['failed', countOf(shown.failedDeliveries)],
    ['failures in a row', String(consecutiveFailures ?? 0)],
    ...(consecutiveFailures === null
      ? []
      : [
          ['failing since', timeOf(shown.failingSince)] satisfies [string, string],
          ['last failure', timeOf(shown.lastFailureAt)] satisfies [string, string],
        ]),
    ...(shown.breakerOpenUntil === null
      ? []
      : [['breaker open until', timeOf(shown.breakerOpenUntil)] satisfies [string, string]]),
    ...(shown.holdUntil === null ? [] : [['Retry-After until', timeOf(shown.holdUntil)] satisfies [string, string]]),
    ...shown.eventTypes.map(({ type, version }): [string, string] => ['event type', `${type} ${version}`]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

interface ReplayOptions extends OutputOptions {
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

function parseNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

const progressMs = 500;

/** Shows the progress of a replay until it has ended. */
async function untilEnded(shell: Shell, context: OperatorContext, started: WebhookReplay): Promise<WebhookReplay> {
  const progress = createProgress(shell);
  try {
    for (let replay = started; ; replay = await readWebhookReplay(context, { replayId: started.id })) {
      if (replay.status !== 'RUNNING') return replay;
      progress.report(progressOf(replay));
      await sleep(progressMs);
    }
  } finally {
    progress.end();
  }
}

const barLength = 20;

function progressOf({ position, queuedCount, skippedCount, waitsFor }: WebhookReplay): string {
  const done = Math.floor(position * barLength);
  const bar = `${'#'.repeat(done)}${'.'.repeat(barLength - done)}`;
  const counts = `${queuedCount.toLocaleString('en')} queued, ${skippedCount.toLocaleString('en')} skipped`;
  return `[${bar}] ${Math.floor(position * 100)} %, ${counts}${waitsFor === null ? '' : `, waits for ${waitsFor}`}`;
}

function describeReplay({ id, status, queuedCount, skippedCount }: WebhookReplay): string {
  return `The replay ${id} is ${status}: ${queuedCount.toLocaleString('en')} queued, ${skippedCount.toLocaleString('en')} skipped`;
}

type Estimate = NonNullable<Awaited<ReturnType<typeof replaySubscription>>['estimate']>;

function describeEstimate({ count, isLowerBound, byType, seconds }: Estimate): string {
  const total = `${isLowerBound ? 'More than ' : ''}${count.toLocaleString('en')} deliveries, at least ${seconds.toLocaleString('en')} seconds`;
  return [total, ...byType.map((row) => `  ${row.type}: ${row.count.toLocaleString('en')}`)].join('\n');
}
