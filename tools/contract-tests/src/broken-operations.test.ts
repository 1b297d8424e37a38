import { sdl as lenderSdl } from '@deedwire/lender-schema';
import { sdl as partnerSdl } from '@deedwire/partner-schema';
import { buildSchema, Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { findBrokenOperations } from './broken-operations.ts';
import { readConsumers, type Consumer } from './consumers.ts';

const sdlOf = { lender: lenderSdl, partner: partnerSdl };
const consumers = readConsumers();
const pins = consumers.flatMap((consumer) => consumer.versions.map((version) => ({ consumer, version })));

test.each(pins)('what $consumer.name sends is served by $version', ({ consumer, version }) => {
  expect(findBrokenOperations(consumer, buildSchema(sdlOf[consumer.interface](version)))).toEqual([]);
});

test.each(consumers)('every operation of $name is recorded', ({ document, recorded }) => {
  const operations = parse(document).definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value] : [],
  );
  expect(new Set(recorded.map(({ operation }) => operation))).toEqual(new Set(operations));
});

describe('a removal names the consumer, the operation and the coordinate', () => {
  const loanDesk = find('loan-desk');
  const sdl = lenderSdl('2026-11-01');

  test.each([
    [
      'a field',
      /  """\n  Team members, in the order[^"]*"""\n  members: \[TeamMember!\]!\n/,
      '',
      [['Team', 'Lender.members']],
    ],
    [
      'a field in a fragment',
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
      'an argument',
      /    """\n    Filter by status.\n    """\n    status: WebhookDeliveryStatus\n/,
      '',
      [['Deliveries', 'Query.webhookDeliveries(status:)']],
    ],
    [
      'an argument of another type',
      'subscriptionId: ID\n',
      'subscriptionId: Int\n',
      [['Deliveries', 'Query.webhookDeliveries(subscriptionId:)']],
    ],
    [
      'an argument that is required now',
      'after: String\n  ): WebhookSubscriptionConnection!',
      'after: String\n    since: DateTime!\n  ): WebhookSubscriptionConnection!',
      [['Subscriptions', 'Query.webhookSubscriptions']],
    ],
  ] as const)('%s', (_, from, to, expected) => {
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
  if (consumer === undefined) throw new Error(`There is no consumer ${name}.`);
  return consumer;
}
