export { type Account, createAccount, listAccounts } from './accounts.ts';
export {
  type ApiKey,
  createApiKey,
  type CreateApiKeyInput,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  type RotateApiKeyInput,
} from './api-keys.ts';
export { type AuditEntry, listAuditEntries, readAuditEntries, type StoredAuditEntry } from './audit-entries.ts';
export { type Client, cursorOfClient, listClients, pinClient, setClientLimit } from './clients.ts';
export {
  type ActionContext,
  type Caller,
  type OperatorContext,
  systemRandom,
  toCaller,
  type WebhookActionContext,
} from './context.ts';
export { closeCopy } from './close-copy.ts';
export { createWebhookSubscription, type CreateWebhookSubscriptionInput } from './create-webhook-subscription.ts';
export {
  type Credential,
  expireCredential,
  findApiKey,
  listCredentials,
  recordApiKeyUse,
  revokeCredential,
  setKeySelfService,
} from './credentials.ts';
export { describeUnknownBuilds, type EndingUse, exportEnvironment, listEndingUse } from './environment.ts';
export { erasePerson, type KeptOfPerson } from './erase-person.ts';
export { eventContractsOf } from './event-contracts.ts';
export { InvalidArgumentError, orRefuse, RefusedError, type RefusedErrorCode, type UserError } from './errors.ts';
export { issueCredential, type IssuedCredential, rotateCredential } from './credentials.ts';
export { inviteToKeys, type KeyInvite } from './key-invites.ts';
export { type LateWork, listLateWork } from './late-deliveries.ts';
export {
  pauseWebhookSubscription,
  resumePausedSubscription,
  resumeWebhookSubscription,
} from './pause-webhook-subscription.ts';
export {
  createPortalLink,
  createPortalLinkOfAccount,
  endOwnPortalSession,
  exchangePortalLink,
  findPortalLink,
  findPortalSession,
  listPortalSessions,
  portalCaller,
  portalLinkErrorCodes,
  type PortalContext,
  type PortalLink,
  type PortalSession,
  recordPortalSessionUse,
  revokePortalSession,
  type UnusedPortalLink,
} from './portal-sessions.ts';
export { type PreviewContext, type PreviewRequest, previewWebhookPayloads } from './preview-webhook-payloads.ts';
export { createOrganization, listOrganizations, type Organization } from './accounts.ts';
export { cursorOf, type Page, type PageRequest } from './page.ts';
export {
  countSecrets,
  type RewrapContext,
  type RewrapReport,
  rewrapSecrets,
  type SecretCount,
} from './rewrap-secrets.ts';
export { retryWebhookDelivery } from './retry-webhook-delivery.ts';
export { sendPendingWebhookDeliveries } from './send-pending-webhook-deliveries.ts';
export { rotateWebhookSecret, type RotateWebhookSecretInput } from './rotate-webhook-secret.ts';
export { sendTestWebhookEvent, type SendTestWebhookEventInput } from './send-test-webhook-event.ts';
export {
  type OperatorsCheck,
  checkDatabase,
  findWorkersToReplace,
  type ProposedLogin,
  proposeLogins,
} from './database.ts';
export { advanceAllSequences, type LastNumbers } from './database.ts';
export { type Reconciliation, reconcileSubscription } from './reconcile-subscription.ts';
export { requestHeaderErrorCodes } from './request-headers.ts';
export { readSentBody, type SignedRequest, signWebhookDelivery } from './sign-webhook-delivery.ts';
export {
  changeSubscriptionSettings,
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionInput,
} from './update-webhook-subscription.ts';
export {
  type AttemptsRequest,
  countWebhookAttempts,
  explainWebhookDelivery,
  findWebhookDelivery,
  type FollowedAttempt,
  followWebhookAttempts,
  listAllWebhookDeliveries,
  listDeliveriesOfSubscriptions,
  type ListedAttempt,
  listLatestAttempts,
  listWebhookAttempts,
  listWebhookDeliveries,
  type LastFailure,
  readLastFailures,
  readResponseBodies,
  readWebhookDelays,
  readWebhookDelivery,
  readWebhookExchanges,
  readWebhookPayloads,
  type SubscriptionDeliveriesRequest,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookExchange,
  type WebhookHeader,
  type WholeExchange,
} from './webhook-deliveries.ts';
export {
  createWebhookListener,
  type CreateWebhookListenerInput,
  deleteListenerOfAccount,
  deleteWebhookListener,
  listAllWebhookListeners,
  type ListenerPermission,
  listWebhookListeners,
  permitListeners,
  type WebhookListener,
} from './webhook-listeners.ts';
export { idempotencyErrorCodes } from './idempotency.ts';
export { verificationErrorCodes } from './verify-callback-url.ts';
export type { ShownBody } from './webhooks/deliveries/exchanges.ts';
export {
  CursorExpiredError,
  listWebhookEvents,
  type MissingEvent,
  type PullContext,
  type WebhookEvent,
  type WebhookEventPage,
} from './webhook-events.ts';
export { eventTypesErrorCodes, listWebhookEventTypes, type SubscribableEventType } from './webhook-event-types.ts';
export {
  deleteWebhookSubscription,
  findWebhookSubscription,
  findWebhookSubscriptions,
  listAllWebhookSubscriptions,
  listWebhookSubscriptions,
  readWebhookSubscription,
  type ShownSubscription,
  type WebhookSubscription,
} from './webhook-subscriptions.ts';
export {
  cancelWebhookReplay,
  findWebhookReplay,
  listWebhookReplays,
  readWebhookReplay,
  replayWebhookEvents,
  type ReplayWebhookEventsInput,
  type ReplayWebhookEventsResult,
  type WebhookReplay,
  type WebhookReplayEstimate,
} from './webhook-replays.ts';
export { readWebhookHealth, readWebhookStatistics, type StatisticsRequest } from './webhook-subscription-health.ts';
export { countedDeliveriesMax, type Health, healthStates } from './webhooks/subscriptions/health.ts';
export type { HourStatistics } from './webhooks/subscriptions/hour-statistics.ts';
export { type Delay, delayReasons } from './webhooks/deliveries/delay.ts';
export { shownAttemptErrors } from './webhooks/deliveries/attempt-advice.ts';
export { createEventWaits } from './webhooks/pull/event-waits.ts';
export { noteListenerRead } from './webhooks/subscriptions/listeners.ts';
export {
  abortSplit,
  activateSplit,
  freezeSplit,
  listCells,
  type PrepareInput,
  prepareSplit,
  promoteSplit,
  readSplit,
  type SplitReport,
  type SplitStep,
  type SplitStepOfTwo,
  waitForSplit,
} from './split-cell.ts';
export { LostChanges } from './restored/lost-changes.ts';
export type { RepeatDeletion } from './restored/repeat-change.ts';
export {
  checkRestored,
  type OldDatabase,
  readOldDatabase,
  type RestoreItem,
  type RestoreReport,
  settleRestore,
} from './restored/settle-restore.ts';
export { pruneCell, type PruneReport } from './prune-cell.ts';
