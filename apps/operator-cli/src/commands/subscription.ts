import {
  cancelReplayOfSubscription,
  countedDeliveriesMax,
  listAllWebhookSubscriptions,
  pauseSubscription,
  readWebhookSubscription,
  resumePausedSubscription,
  rotateSecretOfSubscription,
  sendTestEvent,
  type ShownSubscription,
  type WebhookSubscription,
} from '@deedwire/actions';
import { Option, type Command } from 'commander';
import { afterOption, limitOption, type Window } from '../limit.ts';
import { addReplayOptions, describeReplay, replayAndPrint, type ReplayOptions } from '../replay-options.ts';
import { readSecretKeys, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { parseDuration } from '../time-options.ts';
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
      await printList(shell, options, {
        name: 'webhookSubscriptions',
        read: (context, request) => listAllWebhookSubscriptions(context, { ...filter, ...request }),
        id: (row) => row.id,
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

  addReplayOptions(
    addVerb(noun, 'replay <gid>', 'send the failed deliveries of a subscription again, behind new ones'),
    'deedwire-operator subscription replay gid://service/WebhookSubscription/4711',
  ).action((subscriptionId: string, options: ReplayOptions) => replayAndPrint(shell, subscriptionId, options));

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

  addVerb(noun, 'test <gid>', 'send an event with sample data to a subscription or listener')
    .option('--type <type>', 'an event type that it receives', 'webhook.test')
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
