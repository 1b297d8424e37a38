import { defineService } from '@deedwire/domain';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { events } from './generated/events.ts';
import { interfaceVersions } from './generated/interface-versions.ts';
import { interfaces } from './interfaces.ts';
import { names } from './names.ts';

export { lenderUpdated } from './events/lender.updated/event.ts';
export { referralConverted } from './events/referral.converted/event.ts';
export { referralCreated } from './events/referral.created/event.ts';
export { referralDeclined } from './events/referral.declined/event.ts';
export { teamMemberAdded } from './events/team_member.added/event.ts';
export { teamMemberRemoved } from './events/team_member.removed/event.ts';
export { teamMemberUpdated } from './events/team_member.updated/event.ts';
export { type InterfaceName, interfaceNames, perInterface } from './interfaces.ts';

/** The application of this repository: a law firm, the partners that refer clients to it, and the lenders that it works with. */
export const firm = defineService({
  names,
  interfaces: {
    lender: { ...interfaces.lender, versions: interfaceVersions.lender },
    partner: { ...interfaces.partner, versions: interfaceVersions.partner },
  },
  contracts: webhookEventTypes,
  events,
});
