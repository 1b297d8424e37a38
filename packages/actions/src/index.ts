// What every use case has.
export {
  type ActionContext,
  type Caller,
  type OperatorContext,
  systemRandom,
  toCaller,
  type WebhookActionContext,
} from './kernel/context.ts';
export {
  InvalidArgumentError,
  orRefuse,
  RefusedError,
  type RefusedErrorCode,
  type UserError,
  idempotencyErrorCodes,
} from './kernel/errors.ts';
export { contractPackageOf, eventContractsOf } from './kernel/event-contracts.ts';
export { cursorOf, type Page, type PageRequest } from './kernel/page.ts';

// Organizations, accounts, their clients and keys, sessions of the portal, and the audit log.
export {
  type Account,
  createAccount,
  createOrganization,
  listAccounts,
  listOrganizations,
  type Organization,
} from './accounts/accounts.ts';
export {
  type ApiKey,
  createApiKey,
  type CreateApiKeyInput,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  type RotateApiKeyInput,
} from './accounts/api-keys.ts';
export {
  type AuditEntry,
  listAuditEntries,
  readAuditEntries,
  type StoredAuditEntry,
} from './accounts/audit-entries.ts';
export { type Client, cursorOfClient, listClients, pinClient, setClientLimit } from './accounts/clients.ts';
export {
  type Credential,
  expireCredential,
  findApiKey,
  issueCredential,
  type IssuedCredential,
  listCredentials,
  recordApiKeyUse,
  revokeCredential,
  rotateCredential,
  setKeySelfService,
} from './accounts/credentials.ts';
export {
  confirmContactEmail,
  type ContactEmail,
  contactEmailsErrorCodes,
  type ContactSubject,
  contactSubjects,
  listContactEmails,
  listContactEmailsOfAccount,
  unsubscribeContactEmail,
  updateContactEmails,
  updateContactEmailsOfAccount,
} from './accounts/contact-emails.ts';
export { inviteToKeys, type KeyInvite } from './accounts/key-invites.ts';
export {
  createPortalLink,
  createPortalLinkOfAccount,
  createToken,
  endOwnPortalSession,
  exchangePortalLink,
  findPortalLink,
  findPortalSession,
  hashOf,
  listPortalSessions,
  portalCaller,
  type PortalContext,
  type PortalLink,
  portalLinkErrorCodes,
  type PortalSession,
  recordPortalSessionUse,
  revokePortalSession,
  type UnusedPortalLink,
} from './accounts/portal-sessions.ts';

// Subscriptions and listeners.
export {
  createWebhookSubscription,
  type CreateWebhookSubscriptionInput,
} from './subscriptions/create-webhook-subscription.ts';
export {
  pauseWebhookSubscription,
  resumePausedSubscription,
  resumeWebhookSubscription,
} from './subscriptions/pause-webhook-subscription.ts';
export { requestHeaderErrorCodes } from './subscriptions/request-headers.ts';
export { rotateWebhookSecret, type RotateWebhookSecretInput } from './subscriptions/rotate-webhook-secret.ts';
export {
  changeSubscriptionSettings,
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionInput,
} from './subscriptions/update-webhook-subscription.ts';
export { verificationErrorCodes } from './subscriptions/verify-callback-url.ts';
export {
  eventTypesErrorCodes,
  listWebhookEventTypes,
  type SubscribableEventType,
} from './subscriptions/webhook-event-types.ts';
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
} from './subscriptions/webhook-listeners.ts';
export {
  deleteWebhookSubscription,
  findWebhookSubscription,
  findWebhookSubscriptions,
  listAllWebhookSubscriptions,
  listWebhookSubscriptions,
  readWebhookSubscription,
  type ShownSubscription,
  type WebhookSubscription,
} from './subscriptions/webhook-subscriptions.ts';

// Deliveries, events and replays.
export { type LateWork, listLateWork } from './deliveries/late-deliveries.ts';
export {
  type PreviewContext,
  type PreviewRequest,
  previewWebhookPayloads,
} from './deliveries/preview-webhook-payloads.ts';
export { reconcileSubscription, type Reconciliation } from './deliveries/reconcile-subscription.ts';
export { retryWebhookDelivery } from './deliveries/retry-webhook-delivery.ts';
export { sendPendingWebhookDeliveries } from './deliveries/send-pending-webhook-deliveries.ts';
export { sendTestWebhookEvent, type SendTestWebhookEventInput } from './deliveries/send-test-webhook-event.ts';
export { readSentBody, type SignedRequest, signWebhookDelivery } from './deliveries/sign-webhook-delivery.ts';
export {
  type AttemptsRequest,
  countWebhookAttempts,
  explainWebhookDelivery,
  findWebhookDelivery,
  type FollowedAttempt,
  followWebhookAttempts,
  type LastFailure,
  listAllWebhookDeliveries,
  listDeliveriesOfSubscriptions,
  type ListedAttempt,
  listLatestAttempts,
  listWebhookAttempts,
  listWebhookDeliveries,
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
} from './deliveries/webhook-deliveries.ts';
export {
  CursorExpiredError,
  listWebhookEvents,
  type MissingEvent,
  type PullContext,
  type WebhookEvent,
  type WebhookEventPage,
} from './deliveries/webhook-events.ts';
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
} from './deliveries/webhook-replays.ts';
export {
  readWebhookHealth,
  readWebhookStatistics,
  type StatisticsRequest,
} from './deliveries/webhook-subscription-health.ts';

// Parts of results.
export { shownAttemptErrors } from './webhooks/deliveries/attempt-advice.ts';
export { type Delay, delayReasons } from './webhooks/deliveries/delay.ts';
export type { ShownBody } from './webhooks/deliveries/exchanges.ts';
export { createEventWaits } from './webhooks/pull/event-waits.ts';
export { countedDeliveriesMax, type Health, healthStates } from './webhooks/subscriptions/health.ts';
export type { HourStatistics } from './webhooks/subscriptions/hour-statistics.ts';
export { noteListenerRead } from './webhooks/subscriptions/listeners.ts';

// The data of persons.
export { erasePerson, type KeptOfPerson } from './persons/erase-person.ts';

// The database and its cells.
export { closeCopy } from './database/close-copy.ts';
export {
  advanceAllSequences,
  checkDatabase,
  findWorkersToReplace,
  type LastNumbers,
  type OperatorsCheck,
  type ProposedLogin,
  proposeLogins,
} from './database/database.ts';
export { describeUnknownBuilds, type EndingUse, exportEnvironment, listEndingUse } from './database/environment.ts';
export { pruneCell, type PruneReport } from './database/prune-cell.ts';
export {
  countSecrets,
  type RewrapContext,
  type RewrapReport,
  rewrapSecrets,
  type SecretCount,
} from './database/rewrap-secrets.ts';
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
} from './database/split-cell.ts';

// After a restore.
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
