export { lenderUpdated } from './lender.updated/event.ts';
export { referralConverted } from './referral.converted/event.ts';
export { referralCreated } from './referral.created/event.ts';
export { referralDeclined } from './referral.declined/event.ts';
export { teamMemberAdded } from './team_member.added/event.ts';
export { teamMemberRemoved } from './team_member.removed/event.ts';
export { teamMemberUpdated } from './team_member.updated/event.ts';
