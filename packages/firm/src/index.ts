import { defineService } from '@deedwire/core';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { events } from './generated/events.ts';
import { interfaces } from './generated/interfaces.ts';
import { names } from './names.ts';

export { type InterfaceName, interfaceNames, perInterface } from './interfaces.ts';

/** The application of this repository: a law firm, the partners that refer clients to it, and the lenders that it works with. */
export const firm = defineService({
  names,
  interfaces,
  contracts: webhookEventTypes,
  events,
  tables: {
    team_member: {
      persons: {
        record: 'TeamMember',
        noun: 'member',
        address: 'email',
        columns: ['first_name', 'last_name'],
        isAddressUnique: true,
      },
    },
    referral: {
      persons: {
        record: 'Referral',
        noun: 'referral',
        address: 'client_email',
        columns: ['client_name', 'external_reference', 'note', 'decline_reason'],
        knownBy: ['clientEmail', 'clientName'],
      },
    },
    matter: {},
  },
  sequences: {
    matter_number: 'the highest number of a matter reference that clients may have, for example 4711 of M-2027-004711',
  },
  auditActions: {
    'member.add': 'create',
    'member.remove': 'delete',
    'member.update': 'update',
    'referral.convert': 'lost',
    'referral.create': 'lost',
    'referral.decline': 'lost',
  },
  clientActions: ['referral.create'],
  migrations: new URL('../migrations/', import.meta.url),
});
