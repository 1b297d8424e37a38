import {
  cancelWebhookReplay,
  changeSubscriptionSettings,
  countedDeliveriesMax,
  listAllWebhookSubscriptions,
  orRefuse,
  pauseWebhookSubscription,
  readWebhookSubscription,
  RefusedError,
  type Reconciliation,
  reconcileSubscription,
  resumePausedSubscription,
  rotateWebhookSecret,
  sendTestWebhookEvent,
  type ShownSubscription,
  type WebhookSubscription,
} from '@deedwire/actions';
import { operatorCommand, originOf, type RequestHeader } from '@deedwire/core';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { examplesOf } from '../examples.ts';
import { accountOption, gidArgument, gidOption, subscriptionTypes } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { createProgress } from '../progress.ts';
import { readLines, readSecretInput } from '../read-input.ts';
import { addReplayOptions, describeReplay, replayAndPrint, type ReplayOptions } from '../replay-options.ts';
import { readSecretKeys, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { formatRecord } from '../table.ts';
import { parseDuration, parsePastTime, pastTimes } from '../time-options.ts';
import { addVerb, advise, notes, print, printList, type OutputOptions, UnknownAnswerError } from '../verb.ts';

interface ListOptions extends OutputOptions, Window {
  account?: string;
  status?: WebhookSubscription['status'] | 'DISRUPTED';
}

export function addSubscriptionCommands(program: Command, shell: Shell): void {
  const noun = program.command('subscription').description('manage webhook subscriptions');

  addVerb(noun, 'list', 'list webhook subscriptions, newest first')
    .addOption(accountOption(shell, 'only those of this account'))
    .addOption(
      new Option(
        '--status <status>',
        'only active ones, paused ones, or active ones that are disrupted and have not recovered for 5 minutes',
      ).choices(['ACTIVE', 'PAUSED', 'DISRUPTED']),
    )
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'WebhookSubscription'))
    .addHelpText(
      'after',
      notes(
        `\n  ${operatorCommand()} subscription list --account ${examplesOf(shell).account}\n  ${operatorCommand()} subscription list --status PAUSED`,
      ),
    )
    .action(async (options: ListOptions) => {
      const filter = { accountId: options.account ?? null, status: options.status ?? null };
      await printList(shell, options, {
        name: 'webhookSubscriptions',
        read: (context, request) => listAllWebhookSubscriptions(context, { ...filter, ...request }),
        id: (row) => row.id,
        columns: {
          subscription: (row) => row.id,
          name: (row) => row.name,
          status: (row) => (row.pausedReason === null ? row.status : `PAUSED with ${row.pausedReason}`),
          'callback URL': (row) => row.callbackUrl,
          account: (row) => row.accountId,
          created: (row) => row.createdAt,
          'event types': (row) => row.eventTypes.length,
        },
        // A paused one shows why.
        fixed: { account: options.account, status: options.status === 'ACTIVE' ? 'ACTIVE' : undefined },
        empty: `No subscriptions match. Their owners create them with \`createWebhookSubscription\`; find an account with \`${operatorCommand()} account list\`.`,
      });
    });

  addVerb(noun, 'show', 'show a subscription, its event types and what is known about its receiver')
    .addArgument(gidArgument(shell, 'WebhookSubscription'))
    .addHelpText('after', notes(`\n  ${operatorCommand()} subscription show 4711`))
    .action(async (subscriptionId: string, options: OutputOptions) => {
      const shown = await withContext(shell, (context) => readWebhookSubscription(context, { subscriptionId }));
      print(shell, options, shown, describeAll);
    });

  addReplayOptions(
    addVerb(noun, 'replay', 'send the failed deliveries of a subscription again, after new ones').addArgument(
      gidArgument(shell, 'WebhookSubscription'),
    ),
    `${operatorCommand()} subscription replay 4711`,
  ).action((subscriptionId: string, options: ReplayOptions) => replayAndPrint(shell, subscriptionId, options));

  addVerb(noun, 'cancel-replay', 'stop a replay; what is queued already is sent')
    .addArgument(gidArgument(shell, 'WebhookReplay'))
    .action(async (replayId: string, options: OutputOptions) => {
      const { webhookReplay } = await withContext(shell, async (context) =>
        orRefuse(await cancelWebhookReplay(context, context.operator, { id: replayId })),
      );
      print(shell, options, webhookReplay, describeReplay);
    });

  addVerb(noun, 'pause', 'pause a subscription for its owner; its events are kept')
    .addArgument(gidArgument(shell, 'WebhookSubscription'))
    .action(async (subscriptionId: string, options: OutputOptions) => {
      const { webhookSubscription } = await withContext(shell, async (context) =>
        orRefuse(await pauseWebhookSubscription(context, context.operator, { id: subscriptionId })),
      );
      print(shell, options, webhookSubscription, describe);
    });

  addVerb(noun, 'resume', 'resume a subscription without a handshake; its kept events are sent')
    .addArgument(gidArgument(shell, 'WebhookSubscription'))
    .action(async (subscriptionId: string, options: OutputOptions) => {
      const resumed = await withContext(shell, (context) => resumePausedSubscription(context, { subscriptionId }));
      print(shell, options, resumed, describe);
    });

  addVerb(noun, 'update', 'change the timeout or the request header of a subscription')
    .addArgument(gidArgument(shell, 'WebhookSubscription'))
    .option(
      '--timeout <seconds>',
      'how long the worker waits for a response, 5 to 15; new subscriptions have 5',
      parseSeconds,
    )
    .addOption(
      new Option(
        '--header-file <file>',
        'a file with the header to send with each request, `Name: value`; - is standard input',
      ).conflicts('removeHeader'),
    )
    .option('--remove-header', 'send no header')
    .addHelpText(
      'after',
      notes(`
  ${operatorCommand()} subscription update 4711 --timeout 10
  ${operatorCommand()} subscription update 4711 --header-file - < header.txt

The value of a header is stored encrypted with WEBHOOK_SECRET_KEYS, and never shown. It is no argument, which other processes could read.`),
    )
    .action(async (subscriptionId: string, given: UpdateOptions, command: Command) => {
      const { timeout, headerFile, removeHeader, ...options } = given;
      if (timeout === undefined && headerFile === undefined && removeHeader === undefined)
        command.error('error: pass --timeout, --header-file or --remove-header');
      const header = headerFile === undefined ? undefined : await readHeader(shell, headerFile);
      const requestHeader = removeHeader ? null : header;
      const secretKeys = header && readSecretKeys(shell);
      const updated = await withContext(shell, (context) =>
        changeSubscriptionSettings({ ...context, secretKeys }, subscriptionId, {
          timeoutSeconds: timeout,
          requestHeader,
        }),
      );
      print(shell, options, updated, ({ id, timeoutSeconds, ...ofHeader }) =>
        [
          ...(timeout === undefined ? [] : [`The subscription ${id} has a timeout of ${timeoutSeconds} seconds`]),
          ...(requestHeader === undefined ? [] : [`The subscription ${id} has ${headerOf(ofHeader)}`]),
        ].join('\n'),
      );
    });

  addVerb(noun, 'rotate', 'replace the webhook secret by WEBHOOK_SECRET, or by a generated one, and print it once')
    .addArgument(gidArgument(shell, 'WebhookSubscription'))
    .option('--overlap <duration>', 'how long both secrets sign, 0 to 7d', parseDuration, 86_400)
    .action(async (subscriptionId: string, options: OutputOptions & { overlap: number }) => {
      const secretKeys = readSecretKeys(shell);
      const rotated = await withContext(shell, async (context, { WEBHOOK_SECRET: webhookSecret }) => {
        const input = { id: subscriptionId, webhookSecret, overlapSeconds: options.overlap };
        const result = orRefuse(await rotateWebhookSecret({ ...context, secretKeys }, context.operator, input));
        return { webhookSubscription: result.webhookSubscription, webhookSecret: result.webhookSecret };
      });
      const { rotation } = rotated.webhookSubscription;
      const signs =
        rotation === null
          ? 'Only this secret signs now.'
          : `The old secret signs as well until ${rotation.endsAt.toISOString()}.`;
      advise(shell, options, `Store the webhook secret now. It cannot be shown again. ${signs}`);
      print(shell, options, rotated, ({ webhookSecret }) => webhookSecret);
    });

  addReconcile(noun, shell);

  addVerb(
    noun,
    'test',
    'queue an event with sample data for a subscription or listener; while the receiver fails, send its delivery with delivery retry',
  )
    .addArgument(gidArgument(shell, ...subscriptionTypes))
    .option(
      '--type <type>',
      `an event type that it receives, for example ${examplesOf(shell).eventType}`,
      'webhook.test',
    )
    .action(async (subscriptionId: string, options: OutputOptions & { type: string }) => {
      const { type: eventType } = options;
      const sent = await withContext(shell, async (context) =>
        orRefuse(await sendTestWebhookEvent(context, context.operator, { subscriptionId, eventType })),
      ).catch((error: unknown) => {
        if (!(error instanceof RefusedError) || error.code !== 'INVALID') throw error;
        throw new RefusedError('INVALID', `${error.message} Pass the type with --type.`);
      });
      print(
        shell,
        options,
        { webhookEventId: sent.webhookEventId },
        ({ webhookEventId }) => `The event ${webhookEventId} is queued`,
      );
    });
}

interface UpdateOptions extends OutputOptions {
  timeout?: number;
  headerFile?: string;
  removeHeader?: true;
}

const headerMaxBytes = 5_000;

/** The message quotes nothing: the file contains a secret. */
async function readHeader(shell: Shell, path: string): Promise<RequestHeader> {
  const text = (await readSecretInput(shell, '--header-file', path, headerMaxBytes)).toString('utf8').trim();
  const [, name, value] = /^([^:]*):[ \t]*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new Error(
      `${path === '-' ? 'Standard input' : 'The file of --header-file'} is no header: it contains no colon.`,
    );
  return { name, value };
}

type OfHeader = Pick<WebhookSubscription, 'requestHeaderName' | 'headerState' | 'callbackUrl'>;

function headerOf({ requestHeaderName: name, headerState, callbackUrl }: OfHeader): string {
  if (name === null) return 'no request header';
  return headerState === 'SENT'
    ? `the request header ${name}, which is sent to ${originOf(callbackUrl)}`
    : `the request header ${name}, which is not sent: the callback URL has moved to another origin meanwhile`;
}

function parseSeconds(value: string): number {
  if (!/^\d{1,3}$/.test(value)) throw new InvalidArgumentError('It must be a number of seconds from 5 to 15.');
  return Number(value);
}

interface ReconcileOptions extends OutputOptions {
  log: string;
  since?: Date;
  until?: Date;
}

function addReconcile(noun: Command, shell: Shell): void {
  addVerb(noun, 'reconcile', 'compare the log of a receiver with the deliveries of a subscription or listener')
    .addArgument(gidArgument(shell, ...subscriptionTypes))
    .requiredOption(
      '--log <file>',
      'the log of the receiver, one delivery in each line, plain or compressed with gzip; - reads standard input',
    )
    .option('--since <time>', `only deliveries of this time or later: ${pastTimes}`, parsePastTime)
    .option(
      '--until <time>',
      'only deliveries of events that were created before this time, in the same forms',
      parsePastTime,
    )
    .addHelpText(
      'after',
      notes(`
  ${operatorCommand()} subscription reconcile 4711 --log received.jsonl
  ${operatorCommand()} subscription reconcile 4711 --log ids.txt --since 2027-01-31

A line is one of: the header webhook-id; the id of an event; a body; {"deliveryId": "<webhook-id>", "body": <body>}.
Name --until if the receiver may not have logged the latest deliveries yet. The exit code is 1 if deliveries are missing or altered,
if the log has lines that name no delivery, or if an event of the period still waits for its sequence, and 3 if this is unknown, for
example because the database is unavailable.`),
    )
    .action(async (subscriptionId: string, { log, since, until, ...options }: ReconcileOptions, command: Command) => {
      if (since !== undefined && until !== undefined && since >= until)
        command.error('error: --since must be before --until');
      const progress = createProgress(shell, options);
      const result = await withContext(shell, (context) =>
        reconcileSubscription(context, {
          subscriptionId,
          lines: readLines(shell, log),
          since,
          until,
          onCompared: (compared, of) =>
            progress.report(`Compared ${compared.toLocaleString('en')} of ${of.toLocaleString('en')} deliveries`),
        }),
      )
        .catch((cause: unknown) => {
          throw new UnknownAnswerError('The log was not compared.', { cause });
        })
        .finally(() => progress.end());
      print(shell, options, result, describeReconciliation);
      const { missingCount, alteredCount, unexpectedCount, numberedUntil, isWaiting } = result;
      if (missingCount + alteredCount + unexpectedCount > 0)
        throw new Error(
          `The log and the deliveries differ: ${missingCount} missing, ${alteredCount} altered, ${unexpectedCount} unexpected.`,
        );
      if (isWaiting)
        throw new Error(
          `Events created since ${numberedUntil.toISOString()} can still wait for their sequence, so they were not compared. Run the command again later, or with --until ${numberedUntil.toISOString()}. If they still wait then, check the worker.`,
        );
    });
}

/** How many of each kind a text lists. JSON has 100,000. */
const listedMax = 20;

function describeReconciliation(result: Reconciliation): string {
  const { compared, comparedBodies, firstSequence, lastSequence, repeatedLines, linesOutside } = result;
  const range = firstSequence === null ? '' : `, sequences ${firstSequence} to ${lastSequence}`;
  return [
    `Compared ${counted(compared, 'delivery', 'deliveries')}${range}, and ${counted(comparedBodies, 'body', 'bodies')}`,
    ...listOf('missing', result.missing, result.missingCount, ({ sequence, deliveryId, type, status }) =>
      [sequence, deliveryId, type, status ?? 'not sent'].join('  '),
    ),
    ...listOf('altered', result.altered, result.alteredCount, ({ sequence, deliveryId, type, line }) =>
      [sequence, deliveryId, type, `line ${line}`].join('  '),
    ),
    ...listOf('unexpected', result.unexpected, result.unexpectedCount, ({ line, id }) => `line ${line}  ${id}`),
    ...(repeatedLines > 0 ? [`repeated: ${counted(repeatedLines, 'line', 'lines')}`] : []),
    ...(linesOutside > 0 ? [`outside of the period: ${counted(linesOutside, 'line', 'lines')}`] : []),
  ].join('\n');
}

function counted(count: number, one: string, several: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}

function listOf<Row>(title: string, rows: readonly Row[], count: number, text: (row: Row) => string): string[] {
  const more = count - listedMax;
  return [
    `${title}: ${count.toLocaleString('en')}`,
    ...rows.slice(0, listedMax).map((row) => `  ${text(row)}`),
    ...(more > 0 ? [`  and ${more.toLocaleString('en')} more: --json prints up to 100,000`] : []),
  ];
}

function describe({ id, pausedReason, pausedAt }: WebhookSubscription): string {
  if (pausedAt === null) return `The subscription ${id} is active`;
  return `The subscription ${id} is paused with ${pausedReason} since ${pausedAt.toISOString()}`;
}

const countOf = (count: number, isLowerBound: boolean): string => `${count}${isLowerBound ? ' or more' : ''}`;

const ifKnown = (name: string, time: Date | null): [string, Date][] => (time === null ? [] : [[name, time]]);

function describeHeader({ requestHeaderName: name, headerState }: WebhookSubscription): string | null {
  return headerState === 'DROPPED' ? `${name}, not sent: the callback URL has moved to another origin. Check it` : name;
}

function describeAll(shown: ShownSubscription): string {
  const { rotation, pausedReason, pausedAt, health, failedDeliveries } = shown;
  return formatRecord([
    ['subscription', shown.id],
    ['name', shown.name],
    ['account', `${shown.accountId} (${shown.interfaceName})`],
    ['callback URL', shown.callbackUrl],
    ['timeout', `${shown.timeoutSeconds} s`],
    ['request header', describeHeader(shown)],
    ['status', pausedAt === null ? shown.status : `PAUSED with ${pausedReason} since ${pausedAt.toISOString()}`],
    ['created', shown.createdAt],
    ['rotation', rotation && `until ${rotation.endsAt.toISOString()}`],
    ['last sequence', shown.lastSequence],
    ['health', health.state],
    ['pending', countOf(health.pendingCount, health.pendingCountIsLowerBound)],
    ...ifKnown('oldest pending', health.oldestPendingAt),
    ['failed', countOf(failedDeliveries, failedDeliveries >= countedDeliveriesMax)],
    ['last delivered', health.lastDeliveredAt],
    ['failures in a row', health.consecutiveFailures],
    ...ifKnown('failing since', health.failingSince),
    ...ifKnown('last failure', health.lastFailureAt),
    ...ifKnown('breaker open until', health.breakerOpenUntil),
    ...ifKnown('Retry-After until', shown.holdUntil),
    ...shown.eventTypes.map(({ type, version }): [string, string] => ['event type', `${type} ${version}`]),
  ]);
}
