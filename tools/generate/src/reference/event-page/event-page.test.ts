import { expect, test } from 'vitest';
import { presence } from './event-page.ts';

const field = { type: 'string', isNullable: false, description: 'A text.' };
const always = { ...field, path: 'data.id', isOptional: false, isAddedLater: false };
const absent = { ...field, path: 'data.note', isOptional: true, isAddedLater: false };
const added = { ...field, path: 'data.changed', isOptional: true, isAddedLater: true };

test('says which fields can be absent, and which ones older bodies lack', () => {
  expect(presence([always])).toBe('Every field is always present.');
  expect(presence([always, absent])).toBe('Every field is always present, except that `data.note` can be absent.');
  expect(presence([always, added])).toBe(
    'Every field is always present, except that bodies from before `data.changed` was added lack it.',
  );
  expect(presence([absent, added, { ...absent, path: 'data.amount' }])).toBe(
    'Every field is always present, except that `data.note` and `data.amount` can be absent, and bodies from before `data.changed` was added lack it.',
  );
});
