import { readFileSync } from 'node:fs';
import { webhookEventTypes } from '@deedwire/webhook-events';
import * as z from 'zod';
import { defineService } from '../src/define-service.ts';
import { defineEvent, type EventContract, type RenderedEvent, withRenderers } from '../src/event.ts';

const released = { version: '2026-11-01', status: 'current', sunsetOn: null } as const;

/**
 * An imitation of `firm` for the tests that do not use `testService` yet: `firm` imports the packages of these tests. Its interfaces have the
 * names that the roles and the enumeration of the migrations have. A renderer returns the typical data of its version, whatever the
 * snapshot is.
 */
export const testFirm = defineService({
  names: { gidNamespace: 'service', apiKeyPrefix: 'dw', headerPrefix: 'X-Service', userAgent: 'Deedwire-Webhooks' },
  interfaces: {
    lender: {
      title: 'Lender',
      account: 'Lender',
      versions: [released, { ...released, version: '2027-02-01', status: 'preview' }],
    },
    partner: { title: 'Partner', account: 'Partner', versions: [released] },
  },
  contracts: webhookEventTypes,
  events: webhookEventTypes.filter(({ type }) => !/^(?:api_key|webhook)/.test(type)).map(toEvent),
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
  sequences: { matter_number: 'the highest number of a matter' },
  auditActions: {
    'member.add': 'create',
    'member.remove': 'delete',
    'member.update': 'update',
    'referral.convert': 'lost',
    'referral.create': 'lost',
    'referral.decline': 'lost',
  },
  clientActions: ['referral.create'],
});

export type InterfaceName = keyof typeof testFirm.interfaces;

export const interfaceNames = Object.keys(testFirm.interfaces) as [InterfaceName, ...InterfaceName[]];

function toEvent({ type, versions }: EventContract): RenderedEvent {
  const rendered = versions.filter(({ status }) => status !== 'retired').map(({ version }) => version);
  const [newest = ''] = rendered.slice(-1);
  const record = type.replace(/\..*/, '').replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const event = defineEvent(type, { record, snapshot: z.looseObject({}), sample: () => typicalData(type, newest) });
  return withRenderers(event, Object.fromEntries(rendered.map((each) => [each, () => typicalData(type, each)])));
}

function typicalData(type: string, version: string): Record<string, unknown> {
  const path = `../../webhook-events/fixtures/${type}/${version}/accept/typical.json`;
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).data;
}
