import type { z } from 'zod';
import type { WebhookEvent } from './generated/webhook-event.ts';
import { body as lenderUpdated20261101 } from './lender.updated/2026-11-01.ts';
import { body as referralConverted20261101 } from './referral.converted/2026-11-01.ts';
import { body as referralConverted20270201 } from './referral.converted/2027-02-01.ts';
import { body as referralCreated20261101 } from './referral.created/2026-11-01.ts';
import { body as referralDeclined20261101 } from './referral.declined/2026-11-01.ts';
import { strict } from './strict.ts';
import { body as teamMemberAdded20261101 } from './team_member.added/2026-11-01.ts';
import { body as teamMemberRemoved20261101 } from './team_member.removed/2026-11-01.ts';
import { body as teamMemberUpdated20261101 } from './team_member.updated/2026-11-01.ts';
import { body as webhookTest20261101 } from './webhook.test/2026-11-01.ts';

/** The GraphQL interface on which an event type is available for subscription. */
export type InterfaceName = 'lender' | 'partner';

/**
 * The lifecycle status of a version.
 *
 * - `preview`: incompatible changes are possible; delivered only to subscriptions that name the version.
 * - `current`: only compatible additions are made.
 * - `deprecated`: delivered until `sunsetOn`.
 * - `retired`: no longer delivered; subscriptions cannot pin it.
 */
export type EventVersionStatus = 'preview' | 'current' | 'deprecated' | 'retired';

export interface WebhookEventVersion {
  /** The date that names the version, for example `2026-11-01`. */
  readonly version: string;
  readonly status: EventVersionStatus;
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`, when subscriptions that still pin the version are paused. Null if no sunset is planned. */
  readonly sunsetOn: string | null;
  /** The schema of the whole body, envelope included, for receivers. It accepts unknown fields and removes them. */
  readonly body: z.ZodType<WebhookEvent>;
  /** The schema of `data` for producers. It rejects unknown fields at every depth. */
  readonly data: z.ZodType;
}

export interface WebhookEventType {
  /** The name of the event type, for example `referral.converted`. */
  readonly type: string;
  /** A one-sentence summary of the event. */
  readonly description: string;
  readonly interfaces: readonly InterfaceName[];
  /** Oldest first. */
  readonly versions: readonly WebhookEventVersion[];
}

type Body = z.ZodObject<{ type: z.ZodLiteral<string>; data: z.ZodObject }> & z.ZodType<WebhookEvent>;

function preview(version: string, body: Body): WebhookEventVersion {
  return { version, status: 'preview', deprecatedOn: null, sunsetOn: null, ...schemas(version, body) };
}

function current(version: string, body: Body): WebhookEventVersion {
  return { version, status: 'current', deprecatedOn: null, sunsetOn: null, ...schemas(version, body) };
}

function schemas(version: string, body: Body): Pick<WebhookEventVersion, 'body' | 'data'> {
  const { type, data } = body.shape;
  return { body, data: strict(data, `${type.value} at ${version}: data`) };
}

/** Every event type, ordered by name. */
export const webhookEventTypes: readonly WebhookEventType[] = [
  {
    type: 'lender.updated',
    description: 'The name of the lender organization was changed.',
    interfaces: ['lender'],
    versions: [current('2026-11-01', lenderUpdated20261101)],
  },
  {
    type: 'referral.converted',
    description: 'A referral was converted into a matter.',
    interfaces: ['partner'],
    versions: [current('2026-11-01', referralConverted20261101), preview('2027-02-01', referralConverted20270201)],
  },
  {
    type: 'referral.created',
    description: 'A referral was created.',
    interfaces: ['partner'],
    versions: [current('2026-11-01', referralCreated20261101)],
  },
  {
    type: 'referral.declined',
    description: 'A referral was declined.',
    interfaces: ['partner'],
    versions: [current('2026-11-01', referralDeclined20261101)],
  },
  {
    type: 'team_member.added',
    description: 'A team member was added to the lender.',
    interfaces: ['lender'],
    versions: [current('2026-11-01', teamMemberAdded20261101)],
  },
  {
    type: 'team_member.removed',
    description: 'A team member was removed from the lender.',
    interfaces: ['lender'],
    versions: [current('2026-11-01', teamMemberRemoved20261101)],
  },
  {
    type: 'team_member.updated',
    description: 'The name or the email address of a team member was changed.',
    interfaces: ['lender'],
    versions: [current('2026-11-01', teamMemberUpdated20261101)],
  },
  {
    type: 'webhook.test',
    description: 'A test event was requested.',
    interfaces: ['lender', 'partner'],
    versions: [current('2026-11-01', webhookTest20261101)],
  },
];

/** Returns undefined if the event type does not exist. */
export function findEventType(type: string): WebhookEventType | undefined {
  return webhookEventTypes.find((eventType) => eventType.type === type);
}

/** Returns undefined if the event type does not exist or does not have this version. */
export function findEventVersion(type: string, version: string): WebhookEventVersion | undefined {
  return findEventType(type)?.versions.find((eventVersion) => eventVersion.version === version);
}

/**
 * Returns the version that a subscription pins when it does not name one: the newest version with the status `current`.
 *
 * @throws {RangeError} when the event type does not exist, or none of its versions is `current`.
 */
export function currentVersion(type: string): string {
  const version = findEventType(type)
    ?.versions.filter(({ status }) => status === 'current')
    .at(-1);
  if (version === undefined)
    throw new RangeError(`The event type ${JSON.stringify(type)} does not exist or has no current version.`);
  return version.version;
}
