import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatGid, gid, parseGid, parseRecordGid } from './gid.ts';
import { toRecordId } from './record-id.ts';
import { readRecordKey } from './record-key.ts';

test('parses a formatted identifier to the same number', () => {
  for (const id of ['1', '42', '9223372036854775807']) {
    expect(parseGid('service', 'Order', formatGid('service', 'Order', toRecordId(id)))).toBe(id);
  }
});

test.each([
  ['another type', 'gid://service/Shipment/1'],
  ['another namespace', 'gid://other/Order/1'],
  ['no number', 'gid://service/Order/'],
  ['a trailing line feed', 'gid://service/Order/1\n'],
  ['upper case', 'GID://service/Order/1'],
  ['a query', 'gid://service/Order/1?x=1'],
  ['only a number', '1'],
  ['an empty string', ''],
])('rejects %s', (_, value) => {
  expect(parseGid('service', 'Order', value)).toBeNull();
});

const uuid = '0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c';

test.each([
  ['4711', '4711'],
  [uuid, uuid],
  [uuid.toUpperCase(), uuid],
  ['SO-2026/0001', 'SO-2026%2F0001'],
  ['a b', 'a%20b'],
  ['100%', '100%25'],
  ['Zürich', 'Z%C3%BCrich'],
  ["it's (1)*!", 'it%27s%20%281%29%2A%21'],
  ['a-b.c_d~E', 'a-b.c_d~E'],
])('the identifier of the record %s ends with %s', (id, encoded) => {
  expect(gid('service', 'Order', id)).toBe(`gid://service/Order/${encoded}`);
});

test('parses the identifier of any id to the id, with a UUID in lower case', () => {
  const id = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }),
    fc.uuid().map((text) => text.toUpperCase()),
  );
  fc.assert(
    fc.property(id, (text) => {
      const own = gid('service', 'Order', text);
      expect(own).toMatch(/^gid:\/\/service\/Order\/[\w.~%-]+$/);
      expect(parseRecordGid('service', 'Order', own)).toBe(readRecordKey(text));
      expect(
        parseRecordGid(
          'service',
          'Order',
          own.replaceAll(/%../g, (escape) => escape.toLowerCase()),
        ),
      ).toBe(readRecordKey(text));
    }),
  );
});

test.each([
  ['another type', 'gid://service/Shipment/a'],
  ['another namespace', 'gid://other/Order/a'],
  ['no id', 'gid://service/Order/'],
  ['a slash', 'gid://service/Order/SO-2026/0001'],
  ['a query', 'gid://service/Order/a?x=1'],
  ['a space', 'gid://service/Order/a b'],
  ['a trailing line feed', 'gid://service/Order/a\n'],
  ['half of an escape', 'gid://service/Order/a%2'],
  ['an escape that is not UTF-8', 'gid://service/Order/%FF'],
  ['NUL', 'gid://service/Order/a%00'],
  ['an id of 201 bytes', `gid://service/Order/${'a'.repeat(201)}`],
  ['only an id', 'a'],
])('parses no record out of %s', (_, value) => {
  expect(parseRecordGid('service', 'Order', value)).toBeNull();
});

test.each(['', 'a\0', '\ud800', 'é'.repeat(101)])('refuses the id %j', (id) => {
  expect(() => gid('service', 'Order', id)).toThrow('is not an id: it must have 1 to 200 bytes');
});
