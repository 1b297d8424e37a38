import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { missing } from '@deedwire/testing';
import { buildSchema, isEnumType, parse, validate } from 'graphql';
import { expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhook-did-not-arrive.md'), 'utf8');
const blocks = [...page.matchAll(/^```graphql\n((?:query|mutation) (\w+).*?)^```$/gms)];
const documents = Object.fromEntries(blocks.map(([, text = '', name = '']) => [name, text]));

/** The first cells of the rows of the table whose first heading is this. */
function rowsOf(heading: string): string[] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| \`${heading}\``)) + 2;
  const rows = lines.slice(start, lines.indexOf('', start));
  return rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1] ?? '');
}

const schemas = [lender, partner].flatMap(({ sdl, versions }) =>
  versions.map(({ version }) => buildSchema(sdl(version))),
);

test('the page has the operations that the tests below run, and they are valid at every version', () => {
  expect(Object.keys(documents)).toEqual([
    'SendTest',
    'FindDeliveries',
    'Subscriptions',
    'ExplainDelivery',
    'OlderAttempts',
    'RetryDelivery',
    'ReplayFailed',
    'ReplayProgress',
  ]);
  for (const schema of schemas)
    for (const text of Object.values(documents)) expect(validate(schema, parse(text))).toEqual([]);
});

test.each([
  ['status', 'WebhookDeliveryStatus'],
  ['delay.reason', 'WebhookDelayReason'],
  ['error', 'WebhookAttemptError'],
  ['pausedReason', 'WebhookPausedReason'],
])('the table of `%s` has a row for each value of %s', (heading, name) => {
  const types = schemas.map((schema) => schema.getType(name));
  for (const type of types)
    expect(rowsOf(heading)).toEqual(isEnumType(type) ? type.getValues().map((value) => value.name) : missing());
});
