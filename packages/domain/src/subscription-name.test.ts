import { expect, test } from 'vitest';
import { describeSubscriptionName, isSubscriptionName } from './subscription-name.ts';

test.each(['Orders', ' Orders (EU) ', 'Commandes – été', '注文', '注'.repeat(100), '😀'.repeat(100), 'a'])(
  'accepts %j',
  (name) => {
    expect(isSubscriptionName(name)).toBe(true);
  },
);

test.each([
  ['', '0 characters'],
  ['  ', '2 characters'],
  ['a'.repeat(101), '101 characters'],
  ['😀'.repeat(101), '101 characters'],
  ['\uD800', '1 character'],
])('refuses %j, and states its length', (name, length) => {
  expect(isSubscriptionName(name)).toBe(false);
  expect(describeSubscriptionName(name)).toContain(`This one has ${length}.`);
});

test.each([
  'a\0b',
  'a\nb',
  'a\tb',
  'a\u001B[2J',
  'a\u009Bb',
  'a\u202Eb',
  'a\u2066b',
  'a\u200Bb',
  'a\u2028b',
  '\uFEFFa',
  'a\u00ADb',
  '\u3164',
])('refuses %j, whose characters do not show', (name) => {
  expect(isSubscriptionName(name)).toBe(false);
  expect(describeSubscriptionName(name)).toMatch(
    name.includes('\0') ? /3 characters\.$/ : /, of which one or more are invisible or change the direction\.$/,
  );
});
