export { listTeamMembers } from './accounts/list-team-members.ts';
export { pageTeamMembers } from './accounts/page-team-members.ts';
export { readLender } from './accounts/read-lender.ts';
export { readPartner } from './accounts/read-partner.ts';
export type { Lender, Partner, TeamMember } from './accounts/records.ts';
export type { ActionContext, Caller, WebhookActionContext } from './context.ts';
export { InvalidArgumentError, RefusedError, type RefusalCode } from './errors.ts';
export { findApiKey, recordApiKeyUse } from './find-api-key.ts';
export { addTeamMember, removeTeamMember, updateTeamMember } from './operator/change-team.ts';
export { convertReferral, declineReferral } from './operator/close-referral.ts';
export { createLender, createPartner } from './operator/create-account.ts';
export { createOrganization, type Organization } from './operator/create-organization.ts';
export { createReferralForPartner } from './operator/create-referral-for-partner.ts';
export {
  issueCredential,
  listCredentials,
  revokeCredential,
  type Credential,
  type IssuedCredential,
} from './operator/credentials.ts';
export { listDeliveries, listReferralsForOperator, showDelivery } from './operator/lists.ts';
export { pinClient } from './operator/pin-client.ts';
export { updateLender } from './operator/update-lender.ts';
export type { Page, PageRequest } from './page.ts';
export {
  createReferral,
  type CreateReferralErrorCode,
  type CreateReferralInput,
  type CreateReferralResult,
} from './referrals/create-referral.ts';
export { findReferral } from './referrals/find-referral.ts';
export { listReferrals } from './referrals/list-referrals.ts';
export type { Matter, Referral } from './referrals/records.ts';
export { toCaller } from './to-caller.ts';
export type { UserError } from './user-error.ts';
export {
  createWebhookSubscription,
  type CreateWebhookSubscriptionErrorCode,
  type CreateWebhookSubscriptionInput,
  type CreateWebhookSubscriptionResult,
} from './webhooks/create-webhook-subscription.ts';
export {
  deleteWebhookSubscription,
  type DeleteWebhookSubscriptionResult,
} from './webhooks/delete-webhook-subscription.ts';
export { retiredEventVersions } from './webhooks/event-versions.ts';
export { findWebhookDelivery } from './webhooks/find-webhook-delivery.ts';
export { findWebhookSubscription } from './webhooks/find-webhook-subscription.ts';
export { listWebhookAttempts } from './webhooks/list-webhook-attempts.ts';
export { listWebhookDeliveries, type WebhookDeliveriesRequest } from './webhooks/list-webhook-deliveries.ts';
export { listWebhookEventTypes, type SubscribableEventType } from './webhooks/list-webhook-event-types.ts';
export { listWebhookSubscriptions } from './webhooks/list-webhook-subscriptions.ts';
export type { WebhookAttempt, WebhookDelivery, WebhookSubscription } from './webhooks/records.ts';
export {
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionErrorCode,
  type UpdateWebhookSubscriptionInput,
  type UpdateWebhookSubscriptionResult,
} from './webhooks/update-webhook-subscription.ts';
