import { parseGid, secretAssociatedData } from '@deedwire/domain';
import type { SecretKeyRing } from '@deedwire/store';
import {
  countSubscriptions,
  insertSubscription,
  insertSubscriptionEventTypes,
  lockSubscriptionsOfAccount,
  reserveSubscriptionId,
  selectSubscription,
} from '@deedwire/store/webhook-subscriptions';
import { checkCallbackUrl } from '@deedwire/webhook-sender';
import { generateWebhookSecret, isWebhookSecret } from '@deedwire/webhook-signing';
import type { Caller, WebhookActionContext } from '../context.ts';
import { withIdempotencyKey, type IdempotencyErrorCode, type KeepAnswer, type KeptAnswer } from '../idempotency.ts';
import { inputError, type UserError } from '../user-error.ts';
import { chooseEventTypes, type EventTypeChoice, type EventTypesErrorCode } from './choose-event-types.ts';
import { verifyCallbackUrl, type VerificationErrorCode } from './verify-callback-url.ts';
import { toWebhookSubscription, type WebhookSubscription } from './webhook-subscription.ts';

/** The user errors of `createWebhookSubscription`. */
export type CreateWebhookSubscriptionErrorCode =
  | EventTypesErrorCode
  | IdempotencyErrorCode
  | VerificationErrorCode
  | 'WEBHOOK_SECRET_INVALID';

/** Mirrors `CreateWebhookSubscriptionInput`. Null or undefined: not given. */
export interface CreateWebhookSubscriptionInput {
  callbackUrl: string;
  eventTypes: readonly EventTypeChoice[];
  webhookSecret?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** Either a subscription with its secret, or reasons why there is none. */
export interface CreateWebhookSubscriptionResult {
  webhookSubscription: WebhookSubscription | null;
  webhookSecret: string | null;
  userErrors: UserError<CreateWebhookSubscriptionErrorCode>[];
}

const subscriptionsPerAccount = 20;

/** Verifies a callback URL and subscribes it to events. When it does not verify, nothing is created. */
export async function createWebhookSubscription(
  context: WebhookActionContext,
  caller: Caller,
  input: CreateWebhookSubscriptionInput,
): Promise<CreateWebhookSubscriptionResult> {
  const request = {
    mutation: 'createWebhookSubscription',
    key: input.idempotencyKey,
    input: {
      callbackUrl: input.callbackUrl,
      eventTypes: input.eventTypes.map(({ type, version }) => [type, version ?? null]),
      webhookSecret: input.webhookSecret ?? null,
    },
  };
  const outcome = await withIdempotencyKey<WebhookSubscription, CreateWebhookSubscriptionResult>(
    context,
    caller,
    request,
    (keepAnswer) => verifyAndCreate(context, caller, input, keepAnswer),
  );
  switch (outcome.outcome) {
    case 'done':
      return outcome.result;
    case 'repeated':
      return repeat(context, outcome.answer);
    case 'refused':
      return refuse([outcome.userError]);
  }
}

async function verifyAndCreate(
  context: WebhookActionContext,
  caller: Caller,
  input: CreateWebhookSubscriptionInput,
  keepAnswer: KeepAnswer<WebhookSubscription>,
): Promise<CreateWebhookSubscriptionResult> {
  const userErrors: UserError<CreateWebhookSubscriptionErrorCode>[] = [];
  const url = checkCallbackUrl(input.callbackUrl, context.callbackPolicy);
  if (!url.ok) userErrors.push(inputError(url.code, 'callbackUrl', url.message));
  const choice = chooseEventTypes(caller.interfaceName, input.eventTypes, [], new Date());
  userErrors.push(...choice.userErrors);
  const webhookSecret = input.webhookSecret ?? generateWebhookSecret();
  if (!isWebhookSecret(webhookSecret)) {
    const message = 'A webhook secret is `whsec_` and the base64 of 24 to 64 bytes.';
    userErrors.push(inputError('WEBHOOK_SECRET_INVALID', 'webhookSecret', message));
  }
  if (!url.ok || userErrors.length > 0) return refuse(userErrors);

  // Before the callback URL is called, and once more, under a lock, before the subscription is saved.
  if ((await countSubscriptions(context.store, caller.accountId)) >= subscriptionsPerAccount) return refuse([limit]);
  const verificationError = await verifyCallbackUrl(context, caller, { url: url.href, secret: webhookSecret });
  if (verificationError !== null) return refuse([verificationError]);

  return context.store.transaction(async (transaction) => {
    await lockSubscriptionsOfAccount(transaction, caller.accountId);
    if ((await countSubscriptions(transaction, caller.accountId)) >= subscriptionsPerAccount) return refuse([limit]);
    const id = await reserveSubscriptionId(transaction);
    const secretCiphertext = context.secretKeys.encrypt(webhookSecret, secretAssociatedData(id));
    await insertSubscription(transaction, {
      id,
      accountId: caller.accountId,
      interfaceName: caller.interfaceName,
      callbackUrl: url.href,
      secretCiphertext,
    });
    await insertSubscriptionEventTypes(transaction, { id, interfaceName: caller.interfaceName }, choice.eventTypes);
    const row = await selectSubscription(transaction, caller.accountId, id);
    if (row === null) throw new Error(`Subscription ${id} is not there after its insert.`);
    const webhookSubscription = toWebhookSubscription(context.gidNamespace, row);
    await keepAnswer(transaction, { payload: webhookSubscription, secretCiphertext });
    return { webhookSubscription, webhookSecret, userErrors: [] };
  });
}

const limit: UserError<'LIMIT_REACHED'> = {
  code: 'LIMIT_REACHED',
  message: `An account can have ${subscriptionsPerAccount} subscriptions. Delete one first.`,
  field: null,
};

function refuse(userErrors: UserError<CreateWebhookSubscriptionErrorCode>[]): CreateWebhookSubscriptionResult {
  return { webhookSubscription: null, webhookSecret: null, userErrors };
}

/** The answer that `verifyAndCreate` kept, secret included. */
function repeat(
  context: { gidNamespace: string; secretKeys: SecretKeyRing },
  answer: KeptAnswer<WebhookSubscription>,
): CreateWebhookSubscriptionResult {
  const { payload: webhookSubscription, secretCiphertext } = answer;
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', webhookSubscription.id);
  if (id === null || secretCiphertext === null) throw new Error('The kept answer is not a subscription.');
  const webhookSecret = context.secretKeys.decrypt(secretCiphertext, secretAssociatedData(id));
  return { webhookSubscription, webhookSecret, userErrors: [] };
}
