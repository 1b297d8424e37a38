import { type LateWork, listLateWork } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import type { Command } from 'commander';
import { limitOption } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, tableFor, type OutputOptions } from '../verb.ts';

export function addDeliveryLate(noun: Command, shell: Shell): void {
  addVerb(noun, 'late', 'list the subscriptions whose deliveries are due and not sent, and the events not fanned out')
    .addOption(limitOption())
    .addHelpText(
      'after',
      notes(`
First those that the alert DeedwireDeliveriesLate counts, which neither a pause nor the receiver explains, then the others, each by how
long they are due. Deliveries that wait for a scheduled retry are not due. The reasons are those of \`delivery why\`, which also says what to do;
ACCOUNT_AWAY: the account is frozen, or at home in another cell. The last attempt is the last failure if the receiver fails,
otherwise the last success: one that took seconds shows a slow receiver.

Of the events of each shard, only the oldest one that waits, and the oldest blocked one.

  ${operatorCommand()} delivery late --limit 10`),
    )
    .action(async ({ limit, ...options }: OutputOptions & { limit: number }) => {
      const late = await withContext(shell, (context) => listLateWork(context, { limit }));
      print(shell, options, late, (work) => describe(shell, work));
    });
}

function describe(shell: Shell, { subscriptions, events }: LateWork): string {
  const parts: string[] = [];
  if (subscriptions.length > 0)
    parts.push(
      tableFor(shell, subscriptions, {
        subscription: (row) => row.subscriptionId,
        reason: (row) => row.delay?.reason ?? 'sent meanwhile',
        'due since': (row) => row.dueAt,
        'last attempt': ({ lastAttempt }) =>
          lastAttempt &&
          `${lastAttempt.error ?? `HTTP ${lastAttempt.responseStatus}`} after ${lastAttempt.durationMs} ms`,
        alert: (row) => (row.isUnexplained ? 'yes' : 'no'),
        account: (row) => row.accountId,
        delivery: (row) => row.deliveryId,
        until: (row) => row.delay?.until ?? null,
      }),
    );
  if (events.length > 0)
    parts.push(
      tableFor(shell, events, {
        'event not fanned out': (row) => row.eventId,
        reason: (row) => (row.blockedOn === null ? row.reason : `${row.reason} on ${row.blockedOn}`),
        since: (row) => row.occurredAt,
        account: (row) => row.accountId,
      }),
    );
  return parts.length === 0 ? 'Nothing is late' : parts.join('\n\n');
}
