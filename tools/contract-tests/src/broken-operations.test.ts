import { sdl as lenderSdl } from '@deedwire/lender-schema';
import { sdl as partnerSdl } from '@deedwire/partner-schema';
import { buildSchema, Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { findBrokenOperations } from '../test/support/broken-operations.ts';
import { type Consumer, readConsumers } from '../test/support/consumers.ts';

const sdlOf = { lender: lenderSdl, partner: partnerSdl };
const consumers = readConsumers();
const pins = consumers.flatMap((consumer) => consumer.versions.map((version) => ({ consumer, version })));

test.each(pins)('$version serves every operation of $consumer.name', ({ consumer, version }) => {
  expect(findBrokenOperations(consumer, buildSchema(sdlOf[consumer.interface](version)))).toEqual([]);
});

test.each(consumers)('$name has a recorded request for each of its operations', ({ document, recorded }) => {
  const operations = parse(document).definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value] : [],
  );
  expect(new Set(recorded.map(({ operation }) => operation))).toEqual(new Set(operations));
});

describe('findBrokenOperations', () => {
  const loanDesk = find('loan-desk');
  const sdl = lenderSdl('2026-11-01');

  test.each([
    [
      'a removed field',
      /  """\n  Team members, in the order[^"]*"""\n  members: \[TeamMember!\]!\n/,
      '',
      [['Team', 'Lender.members']],
    ],
    [
      'a removed field that a fragment selects',
      /  """\n  When the subscription was paused[^"]*"""\n  pausedAt: DateTime\n/,
      '',
      [
        ['Subscription', 'WebhookSubscription.pausedAt'],
        ['Subscriptions', 'WebhookSubscription.pausedAt'],
        ['Subscribe', 'WebhookSubscription.pausedAt'],
        ['ChangeSubscription', 'WebhookSubscription.pausedAt'],
      ],
    ],
    [
      'a removed argument',
      /    """\n    Filter by status.\n    """\n    status: WebhookDeliveryStatus\n/,
      '',
      [['Deliveries', 'Query.webhookDeliveries(status:)']],
    ],
    [
      'an argument with a changed type',
      'subscriptionId: ID\n',
      'subscriptionId: Int\n',
      [['Deliveries', 'Query.webhookDeliveries(subscriptionId:)']],
    ],
    [
      'a new required argument',
      'after: String\n  ): WebhookSubscriptionConnection!',
      'after: String\n    since: DateTime!\n  ): WebhookSubscriptionConnection!',
      [['Subscriptions', 'Query.webhookSubscriptions']],
    ],
  ] as const)('reports consumer, operation and coordinate for %s', (_, from, to, expected) => {
    const changed = sdl.replace(from, to);
    expect(changed).not.toBe(sdl);
    const broken = findBrokenOperations(loanDesk, buildSchema(changed));
    const named = broken.map(({ consumer, operation, coordinate }) => [consumer, operation, coordinate]);
    for (const [operation, coordinate] of expected) expect(named).toContainEqual(['loan-desk', operation, coordinate]);
    expect(new Set(named.map(([, operation]) => operation))).toEqual(new Set(expected.map(([operation]) => operation)));
  });
});

function find(name: string): Consumer {
  const consumer = consumers.find((each) => each.name === name);
  if (consumer === undefined) throw new Error(`consumers/${name}/ does not exist.`);
  return consumer;
}
