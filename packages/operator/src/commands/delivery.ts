import {
  explainWebhookDelivery,
  followWebhookAttempts,
  listAllWebhookDeliveries,
  type OperatorContext,
  type Page,
  type PageRequest,
  readWebhookDelivery,
  orRefuse,
  retryWebhookDelivery,
  sendPendingWebhookDeliveries,
  signWebhookDelivery,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import { curlCommand } from '@deedwire/core/curl-command';
import { Option, type Command } from 'commander';
import { describeExchange } from '../describe-exchange.ts';
import { examplesOf } from '../examples.ts';
import { accountOption, gidArgument, gidOption, recordOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { createProgress } from '../progress.ts';
import { addReplayOptions, replayAndPrint, type ReplayOptions } from '../replay-options.ts';
import { readSecretKeys, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { type Columns, formatRecord } from '../table.ts';
import { parseDuration, parsePastTime, pastTimes } from '../time-options.ts';
import { addVerb, advise, notes, print, printList, tableFor, type OutputOptions } from '../verb.ts';
import { watchAttempts } from '../watch-attempts.ts';
import { addDeliveryLate } from './delivery-late.ts';

interface ListOptions extends OutputOptions, Window {
  account?: string;
  subscription?: string;
  status?: WebhookDelivery['status'];
  type?: string;
  event?: string;
  record?: string;
  since?: Date;
  until?: Date;
}

interface WatchOptions extends OutputOptions {
  account?: string;
  subscription?: string;
  for?: number;
}

export function addDeliveryCommands(program: Command, shell: Shell): void {
  const noun = program.command('delivery').description('inspect webhook deliveries, and send them again');
  const examples = examplesOf(shell);
  const recordTypes = Object.values(shell.service.interfaces).flatMap(({ records }) => records);

  addVerb(noun, 'list', 'list the deliveries of all accounts, newest first')
    .addOption(accountOption(shell, 'only those of this account'))
    .addOption(gidOption(shell, 'subscription', 'only those to this subscription', 'WebhookSubscription'))
    .addOption(
      new Option('--status <status>', 'filter by status').choices(['PENDING', 'DELIVERED', 'FAILED', 'EXPIRED']),
    )
    .option('--type <event type>', 'only those of this event type; needs --account, --subscription or --record')
    .addOption(
      gidOption(
        shell,
        'event',
        'only those of this event; needs --account, --subscription or --record',
        'WebhookEvent',
      ),
    )
    .addOption(
      recordOption(
        shell,
        'record',
        'only those of events about this record: its global identifier or its id',
        ...recordTypes,
      ),
    )
    .option('--since <time>', `only those created at this time or later: ${pastTimes}`, parsePastTime)
    .option('--until <time>', 'only those created before this time, in the same forms', parsePastTime)
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'WebhookDelivery'))
    .addHelpText(
      'after',
      notes(`
  ${operatorCommand()} delivery list --status FAILED --since yesterday
  ${operatorCommand()} delivery list --account ${examples.account} --type ${examples.eventType} \\
    --since 2027-01-31T09:00Z${examples.record === null ? '' : `\n  ${operatorCommand()} delivery list --record ${examples.record}`}

No index lists deliveries by type. With --type, name --since or --record too: otherwise the whole history of the account is searched.

--event finds those of an event about a record by an index. Others, such as test events, are searched from the time of the event on.

--record lists the deliveries of events about a record of the service, even if it was deleted. An event about a part of a record that
has its own identifier is about this part. Events from before the upgrade that added this option are not found.`),
    )
    .action(async ({ status, since, until, ...options }: ListOptions, command: Command) => {
      const { account: accountId, subscription: subscriptionId, record: recordId } = options;
      const { type: eventType, event: eventId } = options;
      const hasOwner = accountId !== undefined || subscriptionId !== undefined || recordId !== undefined;
      if ((eventType !== undefined || eventId !== undefined) && !hasOwner)
        command.error(
          `error: --${eventId === undefined ? 'type' : 'event'} needs --account, --subscription or --record`,
        );
      if (since !== undefined && until !== undefined && since >= until)
        command.error('error: --since must be before --until');
      const filter = { accountId, subscriptionId, status, eventType, eventId, recordId, since, until };
      let searched = 0;
      const progress = createProgress(shell, options);
      const onSearched = (deliveries: number): void => {
        searched += deliveries;
        progress.report(`Searched ${searched.toLocaleString('en')} deliveries`);
      };
      const read = (context: OperatorContext, request: PageRequest): Promise<Page<WebhookDelivery>> =>
        listAllWebhookDeliveries(context, { ...filter, ...request, onSearched }).finally(() => progress.end());
      await printList(shell, options, {
        name: 'webhookDeliveries',
        read,
        id: (row) => row.id,
        columns: deliveryColumns,
        fixed: { subscription: subscriptionId, status, type: eventType },
        empty: `No deliveries match. Events become deliveries of the subscriptions that exist by then: see \`${operatorCommand()} subscription list\`.`,
      });
    });

  addVerb(noun, 'show', 'show a delivery, its latest attempts, and what they sent and received')
    .addArgument(gidArgument(shell, 'WebhookDelivery'))
    .option('--curl', 'print a command that sends its request to the callback URL again, for sh, bash and zsh')
    .addHelpText(
      'after',
      notes(`
Of most attempts, the request headers, the address, the times, the response headers and up to 16 kB of the response body are kept
for some days. They can contain personal data and secrets of the receiver, so do not put them in a ticket. Control characters are shown
as escapes.

With --curl, the request has the stored payload and is signed now, with the present secrets of the subscription: receivers accept
it for 5 minutes. The secrets are not printed; the command needs WEBHOOK_SECRET_KEYS. A person who has the printed command can send
this one request until then, and read the payload, so do not put it in a ticket. It lacks the request header of the subscription,
which a gateway in front of the receiver can need. Nothing is recorded: \`delivery retry\` lets the
worker send it.

  ${operatorCommand()} delivery show 4711
  ${operatorCommand()} delivery show 4711 --curl | sh`),
    )
    .action(async (deliveryId: string, { curl, ...options }: OutputOptions & { curl?: true }) => {
      if (curl) return printCurl(shell, options, deliveryId);
      const shown = await withContext(shell, (context) => readWebhookDelivery(context, { deliveryId }));
      print(shell, options, shown, (delivery) => {
        const parts = aboutClaims(delivery);
        if (delivery.attempts.length > 0) parts.push(tableFor(shell, delivery.attempts, attemptColumns));
        if (parts.length === 0)
          parts.push(`No attempts yet. See why: ${operatorCommand()} delivery why ${delivery.id}`);
        return [
          formatRecord(Object.entries(deliveryColumns).map(([name, read]) => [name, read(delivery)])),
          ...parts,
          ...delivery.attempts.map(({ number, exchange }) => describeExchange(number, exchange)),
        ].join('\n\n');
      });
    });

  addVerb(noun, 'watch', 'print the attempts of a subscription or an account as they are made, until Ctrl-C')
    .addOption(accountOption(shell, 'the account'))
    .addOption(gidOption(shell, 'subscription', 'the subscription', 'WebhookSubscription'))
    .option('--for <duration>', 'end after this time, for example 10m; defaults to never', parseDuration)
    .addHelpText(
      'after',
      notes(`
Begins with the attempts of the last 10 seconds. With --json, each line is one JSON document.

Asks the database once a second, for a bounded number of deliveries. So some attempts of an account with more than 50 new
deliveries per second are missing, and those of a replay that succeed at once; \`delivery list\` and \`delivery show\` have all.

  ${operatorCommand()} delivery watch --subscription 4711
  ${operatorCommand()} delivery watch --account ${examples.account} --json --for 10m`),
    )
    .action(async ({ account, subscription, for: seconds, ...options }: WatchOptions, command: Command) => {
      if ((account === undefined) === (subscription === undefined))
        return command.error('error: name either --account or --subscription');
      const followed = subscription === undefined ? { accountId: account ?? '' } : { subscriptionId: subscription };
      const untilMs = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1_000;
      await withContext(shell, async (context) =>
        watchAttempts(shell, options, await followWebhookAttempts(context, followed), untilMs),
      );
    });

  addVerb(noun, 'why', 'say why a delivery is late or failed, and what its owner can do')
    .addArgument(gidArgument(shell, 'WebhookDelivery'))
    .action(async (deliveryId: string, options: OutputOptions) => {
      const explained = await withContext(shell, (context) => explainWebhookDelivery(context, { deliveryId }));
      print(shell, options, explained, explanation);
    });

  addDeliveryLate(noun, shell);

  addVerb(noun, 'retry', 'send a delivery again, before others of its subscription')
    .addArgument(gidArgument(shell, 'WebhookDelivery'))
    .action(async (deliveryId: string, options: OutputOptions) => {
      const retried = await withContext(shell, async (context) =>
        orRefuse(await retryWebhookDelivery(context, context.operator, { id: deliveryId })),
      );
      print(
        shell,
        options,
        retried.webhookDelivery,
        ({ id }) => `The delivery ${id} is sent again. \`delivery why\` says what it waits for.`,
      );
    });

  addVerb(
    noun,
    'send-pending',
    'send the deliveries of a subscription now that wait for a retry, at most once a minute',
  )
    .addOption(gidOption(shell, 'subscription', 'the subscription', 'WebhookSubscription').makeOptionMandatory())
    .addHelpText(
      'after',
      notes(`
Use it after an outage of the receiver, if \`delivery list --status PENDING\` shows attempts that are due in hours. They follow what is due
already, oldest first, up to 16 requests at once; after 8 failures in succession, the others wait for a success. A \`Retry-After\` of the
receiver, or a pause, has to end first. A delivery keeps its schedule if its last response had a \`Retry-After\` that has not ended, or if
a worker of the previous release made its last attempt. An attempt that fails leaves the schedule as it was.

  ${operatorCommand()} delivery send-pending --subscription 4711`),
    )
    .action(async ({ subscription, ...options }: OutputOptions & { subscription: string }) => {
      const { webhookSubscription } = await withContext(shell, async (context) =>
        orRefuse(await sendPendingWebhookDeliveries(context, context.operator, { subscriptionId: subscription })),
      );
      print(
        shell,
        options,
        webhookSubscription,
        ({ id, status }) =>
          `The pending deliveries of ${id} are due ${status === 'PAUSED' ? 'once it is resumed: it is paused' : 'now, oldest first'}.`,
      );
    });

  addReplayOptions(
    addVerb(noun, 'replay', 'send the failed deliveries of a subscription again, after new ones').addOption(
      gidOption(shell, 'subscription', 'the subscription', 'WebhookSubscription').makeOptionMandatory(),
    ),
    `${operatorCommand()} delivery replay --subscription 4711`,
  ).action(({ subscription, ...options }: ReplayOptions & { subscription: string }) =>
    replayAndPrint(shell, subscription, options),
  );
}

async function printCurl(shell: Shell, options: OutputOptions, deliveryId: string): Promise<void> {
  const secretKeys = readSecretKeys(shell);
  const { signedAt, acceptedUntil, ...request } = await withContext(shell, (context) =>
    signWebhookDelivery({ ...context, secretKeys }, { deliveryId }),
  );
  print(shell, options, { command: curlCommand(request), signedAt, acceptedUntil }, ({ command }) => command);
  advise(shell, options, `Receivers accept the request until ${acceptedUntil.toISOString()}.`);
}

type Explained = Awaited<ReturnType<typeof explainWebhookDelivery>>;

function explanation({ status, delay, attempts, ...delivery }: Explained): string {
  const since = delay?.since ? `, since ${delay.since.toISOString()}` : '';
  const until = delay?.until ? `, until ${delay.until.toISOString()}` : '';
  const lines = [delay === null ? status : `${status}: ${delay.reason}${since}${until}`];
  if (delay !== null) lines.push(delay.message);
  lines.push(...aboutClaims({ status, ...delivery }));
  for (const equal of equalInTurn(attempts)) {
    const [last, first = last] = [equal[0], equal.at(-1)];
    const { number, startedAt, responseStatus, error, advice } = last;
    const which =
      first === last
        ? `Attempt ${number} at ${startedAt.toISOString()}`
        : `Attempts ${first.number} to ${number}, from ${first.startedAt.toISOString()} to ${startedAt.toISOString()}`;
    lines.push('', `${which}: ${error ?? `HTTP ${responseStatus}`}`);
    if (advice !== null) lines.push(advice);
  }
  return lines.join('\n');
}

/** What is known of claims after which no worker recorded an attempt. */
function aboutClaims({ id, status, claimedAt }: Pick<WebhookDelivery, 'id' | 'status' | 'claimedAt'>): string[] {
  if (claimedAt === null || (status !== 'FAILED' && status !== 'PENDING')) return [];
  const count = claimedAt.length === 1 ? 'once' : `${claimedAt.length} times`;
  const found = `Claimed ${count} without a recorded attempt: ${claimedAt.map((time) => time.toISOString()).join(', ')}.`;
  if (status === 'PENDING')
    return [
      `${found} The request of the last claim may be in flight. The delivery fails after five claims whose workers end, or lose their leases.`,
    ];
  return [
    `${found} Each time, the worker ended or lost its lease. During the last two, nothing else was sent, so the delivery may be the cause. Find out what happened to the workers then, and send it again: ${operatorCommand()} delivery retry ${id}`,
  ];
}

/** Groups attempts that follow each other and failed in the same way. */
function equalInTurn(attempts: readonly WebhookAttempt[]): [WebhookAttempt, ...WebhookAttempt[]][] {
  const groups: [WebhookAttempt, ...WebhookAttempt[]][] = [];
  for (const attempt of attempts) {
    const group = groups.at(-1);
    const { error, responseStatus, advice } = group?.[0] ?? {};
    if (group && error === attempt.error && responseStatus === attempt.responseStatus && advice === attempt.advice)
      group.push(attempt);
    else groups.push([attempt]);
  }
  return groups;
}

const deliveryColumns: Columns<WebhookDelivery> = {
  delivery: (row) => row.id,
  status: (row) => row.status,
  type: (row) => row.event.type,
  occurred: (row) => row.event.timestamp,
  'next attempt': (row) => row.nextAttemptAt,
  subscription: (row) => row.subscriptionId,
  sequence: (row) => row.sequence,
  version: (row) => row.event.version,
};

const attemptColumns: Columns<WebhookAttempt> = {
  attempt: (row) => row.number,
  // Relative times of attempts that follow each other would be equal.
  started: (row) => row.startedAt.toISOString(),
  ms: (row) => row.durationMs,
  response: (row) => row.responseStatus,
  error: (row) => row.error,
};
