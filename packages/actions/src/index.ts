export type { Lender, Partner } from './accounts/account.ts';
export { createLender } from './accounts/create-lender.ts';
export { createPartner } from './accounts/create-partner.ts';
export { createLenderReader, type LenderReader } from './accounts/lender-reader.ts';
export { ownLender, type OwnLender, readLenderName } from './accounts/own-lender.ts';
export { readPartner } from './accounts/read-partner.ts';
export { updateLender } from './accounts/update-lender.ts';
export { appendAuditEntry, type AuditedChange } from './append-audit-entry.ts';
export { listAuditEntries, type AuditEntry } from './audit/list-audit-entries.ts';
export { pinClient } from './clients/pin-client.ts';
export { setClientLimit } from './clients/set-client-limit.ts';
export type {
  ActionContext,
  Caller,
  LenderContext,
  Operator,
  OperatorContext,
  WebhookActionContext,
} from './context.ts';
export type { Credential } from './credentials/credential.ts';
export { expireCredential } from './credentials/expire-credential.ts';
export { findApiKey } from './credentials/find-api-key.ts';
export { issueCredential, type IssuedCredential } from './credentials/issue-credential.ts';
export { listCredentials } from './credentials/list-credentials.ts';
export { recordApiKeyUse } from './credentials/record-api-key-use.ts';
export { revokeCredential } from './credentials/revoke-credential.ts';
export { rotateCredential } from './credentials/rotate-credential.ts';
export { InvalidArgumentError, RefusedError, type RefusedErrorCode } from './errors.ts';
export { createOrganization, type Organization } from './organizations/create-organization.ts';
export type { Page, PageRequest } from './page.ts';
export { systemRandom, type Random } from './random.ts';
export { convertReferral } from './referrals/convert-referral.ts';
export { createReferralForPartner } from './referrals/create-referral-for-partner.ts';
export {
  createReferral,
  type CreateReferralErrorCode,
  type CreateReferralInput,
  type CreateReferralResult,
} from './referrals/create-referral.ts';
export { declineReferral } from './referrals/decline-referral.ts';
export { findReferral } from './referrals/find-referral.ts';
export { listReferralsOfPartner } from './referrals/list-referrals-of-partner.ts';
export { listReferrals } from './referrals/list-referrals.ts';
export type { Matter, Referral } from './referrals/referral.ts';
export { addTeamMember } from './team-members/add-team-member.ts';
export { listTeamMembers } from './team-members/list-team-members.ts';
export { pageTeamMembers } from './team-members/page-team-members.ts';
export { removeTeamMember } from './team-members/remove-team-member.ts';
export type { TeamMember } from './team-members/team-member.ts';
export { updateTeamMember } from './team-members/update-team-member.ts';
export { toCaller } from './to-caller.ts';
export type { UserError } from './user-error.ts';
export { findWebhookDelivery } from './webhook-deliveries/find-webhook-delivery.ts';
export { listAllWebhookDeliveries } from './webhook-deliveries/list-all-webhook-deliveries.ts';
export { listWebhookAttempts } from './webhook-deliveries/list-webhook-attempts.ts';
export { listWebhookDeliveries, type WebhookDeliveriesRequest } from './webhook-deliveries/list-webhook-deliveries.ts';
export { readWebhookDelivery } from './webhook-deliveries/read-webhook-delivery.ts';
export type { WebhookAttempt } from './webhook-deliveries/webhook-attempt.ts';
export type { WebhookDelivery } from './webhook-deliveries/webhook-delivery.ts';
export { listWebhookEventTypes, type SubscribableEventType } from './webhook-event-types/list-webhook-event-types.ts';
export {
  createWebhookSubscription,
  type CreateWebhookSubscriptionErrorCode,
  type CreateWebhookSubscriptionInput,
  type CreateWebhookSubscriptionResult,
} from './webhook-subscriptions/create-webhook-subscription.ts';
export {
  deleteWebhookSubscription,
  type DeleteWebhookSubscriptionResult,
} from './webhook-subscriptions/delete-webhook-subscription.ts';
export { findWebhookSubscription } from './webhook-subscriptions/find-webhook-subscription.ts';
export { listWebhookSubscriptions } from './webhook-subscriptions/list-webhook-subscriptions.ts';
export {
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionErrorCode,
  type UpdateWebhookSubscriptionInput,
  type UpdateWebhookSubscriptionResult,
} from './webhook-subscriptions/update-webhook-subscription.ts';
export type { WebhookSubscription } from './webhook-subscriptions/webhook-subscription.ts';
