import { testLayout } from '@deedwire/layout/test-layout';
import { expect, test } from 'vitest';
import { fillSlotsOf } from './slots.ts';

const layout = await testLayout();
const fill = (text: string): string => fillSlotsOf(layout, 'customer', 'versions/2026-11-01.graphql', text);

test('a slot gets the value of the interface, within a line or instead of one', () => {
  expect(fill('The header `{headerPrefix}-Test` of `{eventTypeInDescriptions}`.')).toBe(
    `The header \`${layout.names.headerPrefix}-Test\` of \`order.placed\`.`,
  );
  const lines = fill('a\n  {descriptionOfRecordId}\nb').split('\n');
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.slice(1, -1).every((line) => /^ {2}\S/.test(line))).toBe(true);
});

test('what is no slot stays', () => {
  const text = '{ "replayed": true } { id } {"verification_token": "…"} {}';
  expect(fill(text)).toBe(text);
});

test.each([
  ['{eventtype}', '{eventtype} has no value in tools/test-service/src/customer/contract/own/slots.json.'],
  ['{constructor}', '{constructor} has no value'],
  ['See {descriptionOfRecordId}.', '{descriptionOfRecordId} has several lines'],
])('refuses %s', (text, message) => {
  expect(() => fill(text)).toThrow(message);
});
