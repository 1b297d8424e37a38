export {
  insertAccount,
  insertOrganization,
  lockAccount,
  organizationExists,
  selectAccount,
  updateAccountName,
  type AccountRow,
} from './accounts.ts';
export {
  countLiveApiKeys,
  insertApiClient,
  insertApiKey,
  lockApiClient,
  revokeApiKey,
  selectApiKey,
  selectApiKeys,
  updateApiClientVersion,
  updateApiKeyLastUse,
  type ApiKeyRow,
} from './credentials.ts';
export { describeDatabaseProblems } from './describe-database-problems.ts';
export { MigrationChangedError, StoreUnavailableError } from './errors.ts';
export {
  claimIdempotencyKey,
  completeIdempotencyKey,
  releaseIdempotencyKey,
  selectIdempotencyKey,
  type IdempotencyKeyRef,
} from './idempotency-keys.ts';
export { insertMatter, reserveMatter } from './matters.ts';
export { migrate } from './migrate.ts';
export type { PageQuery } from './page-query.ts';
export {
  closeReferral,
  insertReferral,
  lockReferral,
  selectReferral,
  selectReferrals,
  type ReferralRow,
} from './referrals.ts';
export { createSecretKeyRing, SecretUnreadableError, type SecretKeyRing } from './secret-key-ring.ts';
export { createStore, type Database, type Store, type StoreOptions } from './store.ts';
export {
  countTeamMembers,
  deleteTeamMember,
  insertTeamMember,
  isTeamMemberEmailTaken,
  lockTeamMember,
  selectTeamMembers,
  selectTeamMembersPage,
  updateTeamMember,
  type TeamMemberRow,
} from './team-members.ts';
export { selectTime } from './time.ts';
export { createListener, createNotifier, type Listener, type Notifier } from './wake-up.ts';
export {
  selectAttempts,
  selectDeliveries,
  selectDelivery,
  selectDeliveryOfAnyAccount,
  type AttemptRow,
  type DeliveryRow,
  type DeliveryStatus,
} from './webhooks/deliveries.ts';
export {
  insertDeliveries,
  insertPayloads,
  lockLanes,
  type DeliveryInput,
  type PayloadInput,
} from './webhooks/fan-out.ts';
export {
  deleteLane,
  deletePendingDeliveries,
  leaseLanes,
  renewLanes,
  selectDueDeliveries,
  selectNextLaneDue,
  type DueDeliveryRow,
  type LaneLease,
} from './webhooks/lanes.ts';
export {
  countOutboxAlarms,
  insertOutboxEvent,
  markEventFailed,
  markEventsFannedOut,
  selectAccountsWithQueuedEvents,
  selectQueuedEvents,
  tryLockFanOut,
  type EventVersionRef,
  type KnownEventVersions,
  type QueuedEventRow,
} from './webhooks/outbox.ts';
export { pauseRetiredSubscriptions, selectSubscriptionsPinning } from './webhooks/retired-versions.ts';
export {
  finishDeliveries,
  insertAttempts,
  lockHeldLanes,
  refreshLanes,
  rescheduleDeliveries,
  type AttemptInput,
} from './webhooks/settle.ts';
export {
  countHandshake,
  countSubscriptions,
  deleteOldHandshakeCounts,
  deleteSubscriptionEventTypes,
  insertSubscription,
  insertSubscriptionEventTypes,
  lockSubscription,
  lockSubscriptionsOfAccount,
  markSubscriptionDeleted,
  pauseGoneSubscriptions,
  reserveSubscriptionId,
  resumeSubscription,
  selectSubscription,
  selectSubscriptions,
  subscriptionExists,
  updateSubscriptionUrl,
  type PausedReason,
  type SubscriptionRow,
} from './webhooks/subscriptions.ts';
