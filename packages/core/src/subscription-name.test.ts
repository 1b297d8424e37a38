import { expect, test } from 'vitest';
import { describeSubscriptionName, isSubscriptionName } from './subscription-name.ts';

test.each([
  'Orders',
  ' Orders (EU) ',
  'Commandes – été',
  '注文',
  '注'.repeat(100),
  '😀'.repeat(100),
  'a',
  '❤️',
  '☎️ EU',
  '❤️‍🔥',
  '👩‍👩‍👧',
  '🏳️‍🌈',
  '1️⃣',
  'می\u200Cخواهم',
  'क्\u200Dष',
])('accepts %j', (name) => {
  expect(isSubscriptionName(name)).toBe(true);
});

test.each([
  ['', 'This one is empty.'],
  ['  ', 'This one is blank.'],
  ['a'.repeat(101), 'This one has 101 characters.'],
  ['😀'.repeat(101), 'This one has 101 characters.'],
  [`${'a'.repeat(100)}\u202E`, 'This one has 101 characters.'],
  [`a${'\0'.repeat(100)}`, 'This one has 101 characters.'],
  ['\uD800', 'This one is not well-formed Unicode: it contains half of a surrogate pair.'],
  ['a\uDE00b\u202E', 'This one is not well-formed Unicode: it contains half of a surrogate pair.'],
  ['a\0b', 'This one contains U+0000.'],
  ['a\nb', 'This one contains U+000A.'],
  ['a\tb', 'This one contains U+0009.'],
  ['a\u001B[2J', 'This one contains U+001B.'],
  ['a\u009Bb', 'This one contains U+009B.'],
  ['a\u202Eb', 'This one contains U+202E.'],
  ['a\u2066b', 'This one contains U+2066.'],
  ['a\u200Bb', 'This one contains U+200B.'],
  ['a\u2028b', 'This one contains U+2028.'],
  ['\uFEFFa', 'This one contains U+FEFF.'],
  ['a\u00ADb', 'This one contains U+00AD.'],
  ['\u3164', 'This one contains U+3164.'],
  // Joiners and selectors that join nothing.
  ['\u200Da', 'This one contains U+200D.'],
  ['a\u200D', 'This one contains U+200D.'],
  ['a\u200C\u200Cb', 'This one contains U+200C.'],
  ['a \u200Db', 'This one contains U+200D.'],
  ['\uFE0F', 'This one contains U+FE0F.'],
  ['❤\uFE0F\uFE0F', 'This one contains U+FE0F.'],
  ['a\uFE0Eb', 'This one contains U+FE0E.'],
])('refuses %j, and names the rule', (name, problem) => {
  expect(isSubscriptionName(name)).toBe(false);
  expect(describeSubscriptionName(name)).toContain(problem);
});
