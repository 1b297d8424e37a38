import {
  pauseSubscription,
  resumePausedSubscription,
  rotateSecretOfSubscription,
  sendTestEvent,
  type WebhookSubscription,
} from '@deedwire/actions';
import type { Command } from 'commander';
import { readSecretKeys, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { parseDuration } from '../time-options.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addSubscriptionCommands(program: Command, shell: Shell): void {
  const noun = program.command('subscription').description('manage webhook subscriptions');

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
    .option('--event-type <type>', 'a type that the subscription receives', 'webhook.test')
    .action(async (subscriptionId: string, options: OutputOptions & { eventType: string }) => {
      const { eventType } = options;
      const sent = await withContext(shell, (context) => sendTestEvent(context, { subscriptionId, eventType }));
      print(shell, options, sent, ({ webhookEventId }) => `The event ${webhookEventId} is queued`);
    });
}

function describe({ id, pausedReason, pausedAt }: WebhookSubscription): string {
  if (pausedAt === null) return `The subscription ${id} is active`;
  return `The subscription ${id} is paused with ${pausedReason} since ${pausedAt.toISOString()}`;
}
