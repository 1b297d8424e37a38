import { type InterfaceName, interfaceNames } from '@deedwire/domain';
import { describe, expect, test } from 'vitest';
import { interfaceContracts, othersThan } from '../test/support/interface-contracts.ts';
import { type Declaration, ownRootFields, webhookHalf } from '../test/support/webhook-halves.ts';

// Each interface has webhooks. Each SDL is whole and written by hand, so these tests compare the halves about webhooks.

type Of<Value> = Readonly<Partial<Record<InterfaceName, Value>>>;

/**
 * The intended differences of descriptions: each names an event type that the interface has. Add a difference here, with its
 * reason, and nowhere else.
 */
const intendedDescriptions: Readonly<Record<string, Of<string>>> = {
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
  return version > '2026-11-01' ? /^\w+ Long! @deprecated/ : /^\w+ Int! @deprecated/;
}

function withoutSequenceType(half: Map<string, Declaration>, version: string): Map<string, Declaration> {
  const sequence = half.get('WebhookDelivery.sequence');
  if (sequence === undefined) throw new Error('A version has no WebhookDelivery.sequence.');
  expect(sequence.signature).toMatch(expectedSequence(version));
  const signature = sequence.signature.replace(/\w+!/, '(intended difference)');
  return new Map(half).set('WebhookDelivery.sequence', { ...sequence, signature });
}

/** The limits of what only one interface has. */
const ownLimits: Of<readonly string[]> = {
  lender: ['teamMembers'],
  partner: [
    'clientNameCharacters',
    'clientEmailCharacters',
    'externalReferenceCharacters',
    'noteCharacters',
    'referralIds',
  ],
};

/** The root fields that are in no other interface. */
const ownFields: Of<readonly string[]> = {
  lender: ['Query.lender'],
  partner: ['Query.partner', 'Query.referral', 'Query.referralsByIds', 'Query.referrals', 'Mutation.createReferral'],
};

/** Each version of an interface, with the version of each other interface that was the newest on that date. */
const versionPairs = interfaceNames.flatMap((name) =>
  othersThan(name).flatMap((other) =>
    interfaceContracts[name].dates.map((date) => ({
      name,
      date,
      other,
      otherDate: newestOn(date, interfaceContracts[other].dates),
    })),
  ),
);

function newestOn(date: string, candidates: readonly string[]): string {
  const newest = candidates.findLast((candidate) => candidate <= date) ?? candidates[0];
  if (newest === undefined) throw new Error('An interface has no versions.');
  return newest;
}

function withoutIntended(half: Map<string, Declaration>, name: InterfaceName): Record<string, Declaration> {
  const entries = [...half].map(([coordinate, declaration]) => {
    const intended = intendedDescriptions[coordinate];
    if (intended === undefined) return [coordinate, declaration] as const;
    const { description } = declaration;
    expect({ coordinate, description }).toEqual({ coordinate, description: intended[name] ?? description });
    return [coordinate, { ...declaration, description: '(intended difference)' }] as const;
  });
  return Object.fromEntries(entries);
}

type Half = ReturnType<typeof webhookHalf>;

/** The manifest of a version without the limits and the costs that only its interface has. */
function sharedManifest(name: InterfaceName, date: string, half: Half): object {
  const { limits, costWeights, costListSizes, costPageMaximums, ...rest } = interfaceContracts[name].manifest(date);
  const own = ownLimits[name] ?? [];
  expect(Object.keys(limits)).toEqual(expect.arrayContaining([...own]));
  const common = Object.entries(limits).filter(([limit]) => !own.includes(limit));
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

describe.each(versionPairs)('$name at $date, $other at $otherDate', ({ name, date, other, otherDate }) => {
  const [sdl, otherSdl] = [interfaceContracts[name].sdl(date), interfaceContracts[other].sdl(otherDate)];
  const half = withoutSequenceType(webhookHalf(sdl, otherSdl), date);
  const otherHalf = withoutSequenceType(webhookHalf(otherSdl, sdl), otherDate);

  test('have the same webhook half, apart from the intended differences', () => {
    expect(withoutIntended(half, name)).toEqual(withoutIntended(otherHalf, other));
  });

  test('have every coordinate of the intended differences', () => {
    expect([...half.keys()]).toEqual(expect.arrayContaining(Object.keys(intendedDescriptions)));
  });

  test('have only these separate root fields', () => {
    const own = ownRootFields(sdl, otherSdl);
    expect(own).toEqual(ownFields[name] ?? own);
  });

  test('have the same manifests, apart from their own limits', () => {
    expect(sharedManifest(name, date, half)).toEqual(sharedManifest(other, otherDate, otherHalf));
  });
});
