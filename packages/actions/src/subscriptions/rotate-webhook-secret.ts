import { formatGid, parseGid, type RecordId, secretAssociatedData } from '@deedwire/core';
import { type SecretKeyRing, SecretUnreadableError } from '@deedwire/store';
import { generateWebhookSecret, isWebhookSecret } from '@deedwire/webhook-signing';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, Caller, Operator } from '../kernel/context.ts';
import { inputError, type MutationResult, type UserError, type IdempotencyErrorCode } from '../kernel/errors.ts';
import { type SaveResult, resultOf, withIdempotencyKey } from '../kernel/idempotency.ts';
import { rotateSecret } from '../webhooks/subscriptions/secrets.ts';
import {
  lockSubscription,
  selectSubscription,
  type SubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';
import { ownerFor } from './subscription-ref.ts';
import {
  webhookSecretInvalid,
  savedSubscription,
  webhookSubscriptionCodec,
  rotateMutation,
  subscriptionNotFound,
  toWebhookSubscription,
  type WebhookSubscription,
} from './webhook-subscriptions.ts';

export type RotateWebhookSecretErrorCode =
  | IdempotencyErrorCode
  | 'NOT_FOUND'
  | 'OVERLAP_INVALID'
  | 'ROTATION_IN_PROGRESS'
  | 'WEBHOOK_SECRET_INVALID';

/** `RotateWebhookSecretInput`. A field that is null or undefined is not set. */
export interface RotateWebhookSecretInput {
  id: string;
  webhookSecret?: string | null | undefined;
  overlapSeconds?: number | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export type RotateWebhookSecretResult = MutationResult<
  { webhookSubscription: WebhookSubscription; webhookSecret: string },
  RotateWebhookSecretErrorCode
>;

export interface RotationContext extends ActionContext {
  secretKeys: SecretKeyRing;
}

const defaultOverlapSeconds = 86_400;
const overlapSecondsMax = 7 * 86_400;

/**
 * Replaces the webhook secret of a subscription. During the overlap, both secrets sign.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names no subscription
 */
export async function rotateWebhookSecret(
  context: RotationContext,
  by: Caller | Operator,
  input: RotateWebhookSecretInput,
): Promise<RotateWebhookSecretResult> {
  const { id, webhookSecret = null, overlapSeconds, idempotencyKey } = input;
  const owner = await ownerFor(context, by, id);
  const request = {
    mutation: rotateMutation,
    key: idempotencyKey,
    input: { id, webhookSecret, overlapSeconds: overlapSeconds ?? defaultOverlapSeconds },
    codec: webhookSubscriptionCodec,
  };
  const rotated = await withIdempotencyKey(context, by, request, (saveResult) =>
    rotate(context, owner, by, { input, saveResult }),
  );
  return resultOf(rotated, {
    repeat: (saved) => ({ ...savedSubscription(context, saved), userErrors: [] }),
    reject,
    findInputErrors: () => findInputErrors(context, owner, input),
  });
}

/** The errors outside of a transaction that changes the secret. */
async function findInputErrors(
  context: ActionContext,
  { accountId }: SubscriptionOwner,
  input: RotateWebhookSecretInput,
): Promise<UserError<RotateWebhookSecretErrorCode>[]> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const row = id === null ? null : await selectSubscription(context.store, accountId, id);
  return row === null ? [subscriptionNotFound] : checkInput(input);
}

function checkInput({
  webhookSecret,
  overlapSeconds,
}: RotateWebhookSecretInput): UserError<RotateWebhookSecretErrorCode>[] {
  const userErrors: UserError<RotateWebhookSecretErrorCode>[] = [];
  if (typeof webhookSecret === 'string' && !isWebhookSecret(webhookSecret)) {
    userErrors.push(webhookSecretInvalid(webhookSecret));
  }
  const seconds = overlapSeconds ?? defaultOverlapSeconds;
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > overlapSecondsMax) {
    const message = `The overlap must be 0 to ${overlapSecondsMax.toLocaleString('en')} seconds (7 days); it is ${seconds.toLocaleString('en')}.`;
    userErrors.push(inputError('OVERLAP_INVALID', 'overlapSeconds', message));
  }
  return userErrors;
}

async function rotate(
  context: RotationContext,
  owner: SubscriptionOwner,
  by: Caller | Operator,
  { input, saveResult }: { input: RotateWebhookSecretInput; saveResult: SaveResult<WebhookSubscription> },
): Promise<RotateWebhookSecretResult> {
  const { gidNamespace, secretKeys, store } = context;
  const { accountId, interfaceName } = owner;
  const id = parseGid(gidNamespace, 'WebhookSubscription', input.id);
  if (id === null) return reject([subscriptionNotFound]);
  return store.transaction(async (transaction) => {
    const locked = await lockSubscription(transaction, accountId, id);
    const current = locked === null ? null : await selectSubscription(transaction, accountId, id);
    if (current === null) return reject([subscriptionNotFound]);
    const userErrors = checkInput(input);
    const present = decryptSecret(secretKeys, id, current.secretCiphertext);
    const overlapSeconds = input.overlapSeconds ?? defaultOverlapSeconds;
    if (present === null && overlapSeconds !== 0) userErrors.push(secretUnreadable);
    // Without an overlap, a secret that has leaked stops signing, whatever is in progress.
    if (current.rotation !== null && overlapSeconds !== 0) userErrors.push(rotationInProgress(current.rotation.endsAt));
    const secret = input.webhookSecret ?? generateWebhookSecret();
    if (secret === present) userErrors.push(secretUnchanged);
    if (userErrors.length > 0) return reject(userErrors);

    const secretCiphertext = secretKeys.encrypt(secret, secretAssociatedData(id));
    await rotateSecret(transaction, id, { secretCiphertext, overlapSeconds });
    const row = await selectSubscription(transaction, accountId, id);
    if (row === null) throw new Error(`The subscription ${id} does not exist after its change.`);
    const webhookSubscription = toWebhookSubscription(gidNamespace, row);
    await appendAuditEntry(transaction, by, {
      action: 'webhook_subscription.rotate',
      subject: formatGid(gidNamespace, 'WebhookSubscription', id),
      account: { id: accountId, interfaceName },
      details: { overlapSeconds },
    });
    await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    await saveResult(transaction, { payload: webhookSubscription, secretCiphertext, recordId: id });
    return { webhookSubscription, webhookSecret: secret, userErrors: [] };
  });
}

/** Null if no key can decrypt the secret. Its owner can replace it anyway, without an overlap. */
export function decryptSecret(
  keys: SecretKeyRing,
  id: RecordId<'WebhookSubscription'>,
  ciphertext: Buffer,
): string | null {
  try {
    return keys.decrypt(ciphertext, secretAssociatedData(id));
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null;
    throw error;
  }
}

const secretUnchanged = inputError(
  'WEBHOOK_SECRET_INVALID',
  'webhookSecret',
  'This is the present secret. Pass another one, or omit it to have one generated.',
);

export const secretUndecryptable = 'Deedwire cannot decrypt the present secret';

// Until the end of an overlap, nothing would be sent.
const secretUnreadable = inputError(
  'OVERLAP_INVALID',
  'overlapSeconds',
  `${secretUndecryptable}, so it cannot sign during an overlap. Rotate it with an overlap of 0.`,
);

function rotationInProgress(endsAt: Date): UserError<'ROTATION_IN_PROGRESS'> {
  const message = `The secret is being rotated until ${endsAt.toISOString()}. Rotate it again after that time, or with an overlap of 0, which ends this rotation.`;
  return inputError('ROTATION_IN_PROGRESS', 'id', message);
}

function reject(userErrors: UserError<RotateWebhookSecretErrorCode>[]): RotateWebhookSecretResult {
  return { webhookSubscription: null, webhookSecret: null, userErrors };
}
