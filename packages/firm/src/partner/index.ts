/** What the partner interface and operators do with partners, their referrals and the matters that these become. */
export { type Partner, readPartner } from './own-partner.ts';
export { convertReferral } from '../referrals/convert-referral.ts';
export { createReferral, createReferralForPartner, type CreateReferralInput } from '../referrals/create-referral.ts';
export { declineReferral } from '../referrals/decline-referral.ts';
export {
  findReferralProblems,
  isDeclineReason,
  type ReferralDetails,
  type ReferralStatus,
  referralStatuses,
} from '../referrals/referral.ts';
export {
  findReferral,
  findReferrals,
  listReferrals,
  listReferralsOfPartner,
  type Matter,
  type Referral,
  type ReferralsRequest,
} from '../referrals/referrals.ts';
