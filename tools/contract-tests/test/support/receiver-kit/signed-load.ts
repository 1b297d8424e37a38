import { formatGid, toRecordId } from '@deedwire/domain';
import { eventually } from '@deedwire/testing';
import { webhookEventTypes } from '@deedwire/webhook-events';
import type { AttemptResult, WebhookSender } from '@deedwire/webhook-sender';
import { createDeprecationHeaders } from '@deedwire/webhook-worker/deprecation-headers';
import { createSend } from '@deedwire/webhook-worker/send';
import type { SendableTarget } from '@deedwire/webhooks';
import { expect } from 'vitest';
import { dueDelivery, sendableTarget } from '../sendable.ts';

/** The secrets of a subscription, as the worker reads them. */
export type SigningSecrets = Pick<SendableTarget, 'nextSecret' | 'secret'>;

/** One attempt of a delivery. */
export interface SentDelivery {
  /** Of the delivery, which has the number of its first request. */
  sequence: number;
  webhookId: string;
  attempt: 1 | 2;
  body: Uint8Array;
  signedWith: SigningSecrets;
  result: AttemptResult;
}

/** Deliveries of one subscription, 16 at a time, as the worker sends them. */
export interface SignedLoad {
  /** In the order of the results. */
  readonly sent: readonly SentDelivery[];
  /** Signs the requests that start from now on with these secrets. */
  sign(secrets: SigningSecrets): void;
  /** Resolves when all requests that have started, and this many more, have a result. */
  more(count: number): Promise<void>;
  /** Resolves when the started requests have a result. */
  stop(): Promise<void>;
}

// Fewer than a receiver handles at once. On a busy machine, a delivery could wait for longer than the 2 s that it may.
const concurrency = 8;
// Every tenth request repeats an earlier delivery, as if its response was lost.
const repeatEvery = 10;
const repeatAfter = 50;
const gidNamespace = 'service';
// Guards against hanging only.
const waitTimeoutMs = 120_000;

export function startSignedLoad(sender: WebhookSender, callbackUrl: string, signing: SigningSecrets): SignedLoad {
  const send = createSend(sender, gidNamespace, createDeprecationHeaders(webhookEventTypes, 'https://docs.example'));
  const targetWith = (secrets: SigningSecrets): SendableTarget => sendableTarget({ callbackUrl, ...secrets });
  let target = targetWith(signing);
  let isStopped = false;
  let started = 0;
  const unanswered = new Set<number>();
  const sent: SentDelivery[] = [];
  const occurredAt = new Date();

  async function deliver(sequence: number, attempt: 1 | 2): Promise<SentDelivery> {
    const deliveryId = toRecordId<'WebhookDelivery'>(String(sequence));
    const eventId = toRecordId<'WebhookEvent'>(String(sequence));
    const referralId = formatGid(gidNamespace, 'Referral', toRecordId(String(sequence)));
    const body = Buffer.from(
      JSON.stringify({
        id: formatGid(gidNamespace, 'WebhookEvent', eventId),
        type: 'referral.created',
        version: '2026-11-01',
        timestamp: occurredAt.toISOString(),
        data: { referralId, externalReference: null },
      }),
    );
    const delivery = {
      ...dueDelivery,
      deliveryId,
      eventId,
      eventType: 'referral.created',
      eventVersion: '2026-11-01',
      occurredAt,
      sequence: String(sequence),
      attempts: attempt - 1,
      body,
    };
    const { secret, nextSecret } = target;
    const result = await send(target, delivery, attempt);
    const webhookId = formatGid(gidNamespace, 'WebhookDelivery', deliveryId);
    return { sequence, webhookId, attempt, body, signedWith: { secret, nextSecret }, result };
  }

  async function sendInTurn(): Promise<void> {
    while (!isStopped) {
      started += 1;
      const request = started;
      unanswered.add(request);
      const earlier = request % repeatEvery === 0 ? sent.at(-repeatAfter) : undefined;
      sent.push(await (earlier?.attempt === 1 ? deliver(earlier.sequence, 2) : deliver(request, 1)));
      unanswered.delete(request);
    }
  }

  const running = Promise.all(Array.from({ length: concurrency }, sendInTurn));
  return {
    sent,
    sign(secrets) {
      target = targetWith(secrets);
    },
    async more(count) {
      const last = started + count;
      await eventually(() => expect(Math.min(started + 1, ...unanswered)).toBeGreaterThan(last), waitTimeoutMs);
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
