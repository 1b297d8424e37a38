import { readFileSync } from 'node:fs';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { describe, expect, test } from 'vitest';
import { type Declaration, ownRootFields, webhookHalf } from '../test/support/webhook-halves.ts';

// Both interfaces have webhooks. Each SDL is whole and written by hand, so these tests compare the halves about webhooks.

interface Difference {
  readonly lender: string;
  readonly partner: string;
}

/**
 * The intended differences of descriptions: each names an event type that the interface has. Add a difference here, with its
 * reason, and nowhere else.
 */
const intendedDescriptions: Readonly<Record<string, Difference>> = {
  'Query.webhookDeliveries(recordId:)': {
    lender: `Filter by record: only deliveries of events about the lender or the team member with this global identifier, also if it was
deleted. An event about a team member is not one about the lender. The list is empty if you have no such record. A page reads at
most 200 deliveries of the record, so with further filters it can be short: continue with \`endCursor\` while \`hasNextPage\` is
true. Deliveries from before the service was upgraded to the release that added this argument are not found; the operator of
the service knows the date.`,
    partner: `Filter by record: only deliveries of events about the referral with this global identifier. The list is empty if you have no
such referral. A page reads at most 200 deliveries of the record, so with further filters it can be short: continue with \`endCursor\`
while \`hasNextPage\` is true. Deliveries from before the service was upgraded to the release that added this argument are not
found; the operator of the service knows the date.`,
  },
  'WebhookDeliveryEvent.type': {
    lender: 'Name of the event type, for example `lender.updated`.',
    partner: 'Name of the event type, for example `referral.converted`.',
  },
  'WebhookEventType.type': {
    lender: 'Name to subscribe to, for example `lender.updated`.',
    partner: 'Name to subscribe to, for example `referral.converted`.',
  },
  'WebhookSubscriptionEventType.type': {
    lender: 'Name of the event type, for example `lender.updated`.',
    partner: 'Name of the event type, for example `referral.converted`.',
  },
};

/** The type of a field depends on the version alone. A version of one interface can be older than that of the other. */
function expectedSequence(version: string): RegExp {
  return version > '2026-11-01' ? /^Long! @deprecated/ : /^Int! @deprecated/;
}

function withoutSequenceType(half: Map<string, Declaration>, version: string): Map<string, Declaration> {
  const sequence = half.get('WebhookDelivery.sequence');
  if (sequence === undefined) throw new Error('A version has no WebhookDelivery.sequence.');
  expect(sequence.signature).toMatch(expectedSequence(version));
  const signature = sequence.signature.replace(/^\w+!/, '(intended difference)');
  return new Map(half).set('WebhookDelivery.sequence', { ...sequence, signature });
}

/** The limits of what only one interface has. */
const ownLimits: Readonly<Record<keyof Difference, readonly string[]>> = {
  lender: ['teamMembers'],
  partner: [
    'clientNameCharacters',
    'clientEmailCharacters',
    'externalReferenceCharacters',
    'noteCharacters',
    'referralIds',
  ],
};

const dates = { lender: lender.versions.map(dateOf), partner: partner.versions.map(dateOf) };

/** Each version of an interface, with the version of the other interface that was the newest on that date. */
const versionPairs = [
  ...dates.lender.map((date) => ({ lenderVersion: date, partnerVersion: newestOn(date, dates.partner) })),
  ...dates.partner
    .map((date) => ({ lenderVersion: newestOn(date, dates.lender), partnerVersion: date }))
    .filter(({ lenderVersion, partnerVersion }) => lenderVersion !== partnerVersion),
];

function dateOf({ version }: lender.SchemaVersion): string {
  return version;
}

function newestOn(date: string, candidates: readonly string[]): string {
  const newest = candidates.findLast((candidate) => candidate <= date) ?? candidates[0];
  if (newest === undefined) throw new Error('An interface has no versions.');
  return newest;
}

function withoutIntended(half: Map<string, Declaration>, name: keyof Difference): Record<string, Declaration> {
  const entries = [...half].map(([coordinate, declaration]) => {
    const intended = intendedDescriptions[coordinate];
    if (intended === undefined) return [coordinate, declaration] as const;
    expect({ coordinate, description: declaration.description }).toEqual({ coordinate, description: intended[name] });
    return [coordinate, { ...declaration, description: '(intended difference)' }] as const;
  });
  return Object.fromEntries(entries);
}

type Half = ReturnType<typeof webhookHalf>;

/** The manifest of a version without the limits and the costs that only its interface has. */
function sharedManifest(name: keyof Difference, version: string, half: Half): object {
  const path = import.meta.resolve(`@deedwire/${name}-schema/${version}.manifest.json`);
  const { limits, costWeights, costListSizes, costPageMaximums, ...rest } = JSON.parse(
    readFileSync(new URL(path), 'utf8'),
  );
  expect(Object.keys(limits)).toEqual(expect.arrayContaining([...ownLimits[name]]));
  const common = Object.entries(limits).filter(([limit]) => !ownLimits[name].includes(limit));
  return {
    ...rest,
    limits: Object.fromEntries(common),
    costWeights: sharedCosts(costWeights, half),
    costListSizes: sharedCosts(costListSizes, half),
    costPageMaximums: sharedCosts(costPageMaximums, half),
  };
}

function sharedCosts(costs: object, half: Half): object {
  return Object.fromEntries(Object.entries(costs).filter(([coordinate]) => half.has(coordinate)));
}

describe.each(versionPairs)('lender at $lenderVersion, partner at $partnerVersion', (pair) => {
  const [lenderSdl, partnerSdl] = [lender.sdl(pair.lenderVersion), partner.sdl(pair.partnerVersion)];
  const lenderHalf = withoutSequenceType(webhookHalf(lenderSdl, partnerSdl), pair.lenderVersion);
  const partnerHalf = withoutSequenceType(webhookHalf(partnerSdl, lenderSdl), pair.partnerVersion);

  test('have the same webhook half, apart from the intended differences', () => {
    expect(withoutIntended(lenderHalf, 'lender')).toEqual(withoutIntended(partnerHalf, 'partner'));
  });

  test('have every coordinate of the intended differences', () => {
    expect([...lenderHalf.keys()]).toEqual(expect.arrayContaining(Object.keys(intendedDescriptions)));
  });

  test('have only these separate root fields', () => {
    expect(ownRootFields(lenderSdl, partnerSdl)).toEqual(['Query.lender']);
    expect(ownRootFields(partnerSdl, lenderSdl)).toEqual([
      'Query.partner',
      'Query.referral',
      'Query.referralsByIds',
      'Query.referrals',
      'Mutation.createReferral',
    ]);
  });

  test('have the same manifests, apart from their own limits', () => {
    expect(sharedManifest('lender', pair.lenderVersion, lenderHalf)).toEqual(
      sharedManifest('partner', pair.partnerVersion, partnerHalf),
    );
  });
});
