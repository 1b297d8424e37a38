import {
  explainWebhookDelivery,
  listAllWebhookDeliveries,
  readWebhookDelivery,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import { Option, type Command } from 'commander';
import { limitOption, readUpTo } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { formatTable } from '../table.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

interface ListOptions extends OutputOptions {
  subscription?: string;
  status?: WebhookDelivery['status'];
  limit: number;
}

export function addDeliveryCommands(program: Command, shell: Shell): void {
  const noun = program.command('delivery').description('inspect webhook deliveries');

  addVerb(noun, 'list', 'list the deliveries of all accounts, newest first')
    .option('--subscription <gid>', 'filter by subscription')
    .addOption(
      new Option('--status <status>', 'filter by status').choices(['PENDING', 'DELIVERED', 'FAILED', 'EXPIRED']),
    )
    .addOption(limitOption())
    .action(async (options: ListOptions) => {
      const filter = { subscriptionId: options.subscription ?? null, status: options.status ?? null };
      const listed = await withContext(shell, (context) =>
        readUpTo(options.limit, (request) => listAllWebhookDeliveries(context, { ...filter, ...request })),
      );
      print(shell, options, listed, deliveryTable);
    });

  addVerb(noun, 'show <gid>', 'show a delivery and its latest attempts').action(
    async (deliveryId: string, options: OutputOptions) => {
      const shown = await withContext(shell, (context) => readWebhookDelivery(context, { deliveryId }));
      print(shell, options, shown, (delivery) => `${deliveryTable([delivery])}\n\n${attemptTable(delivery.attempts)}`);
    },
  );

  addVerb(noun, 'why <gid>', 'say why a delivery is late or failed, and what its owner can do').action(
    async (deliveryId: string, options: OutputOptions) => {
      const explained = await withContext(shell, (context) => explainWebhookDelivery(context, { deliveryId }));
      print(shell, options, explained, explanation);
    },
  );
}

type Explained = Awaited<ReturnType<typeof explainWebhookDelivery>>;

function explanation({ status, delay, attempts }: Explained): string {
  const since = delay?.since ? `, since ${delay.since.toISOString()}` : '';
  const until = delay?.until ? `, until ${delay.until.toISOString()}` : '';
  const lines = [delay === null ? status : `${status}: ${delay.reason}${since}${until}`];
  if (delay !== null) lines.push(delay.message);
  for (const { number, startedAt, responseStatus, error, advice } of attempts) {
    lines.push('', `Attempt ${number} at ${startedAt.toISOString()}: ${error ?? `HTTP ${responseStatus}`}`);
    if (advice !== null) lines.push(advice);
  }
  return lines.join('\n');
}

function deliveryTable(deliveries: readonly WebhookDelivery[]): string {
  return formatTable(deliveries, {
    delivery: (row) => row.id,
    subscription: (row) => row.subscriptionId,
    sequence: (row) => row.sequence,
    status: (row) => row.status,
    event: (row) => `${row.event.type} ${row.event.version}`,
    occurred: (row) => row.event.timestamp,
    'next attempt': (row) => row.nextAttemptAt,
  });
}

function attemptTable(attempts: readonly WebhookAttempt[]): string {
  return formatTable(attempts, {
    attempt: (row) => row.number,
    started: (row) => row.startedAt,
    ms: (row) => row.durationMs,
    response: (row) => row.responseStatus,
    error: (row) => row.error,
  });
}
