import { expect, test } from 'vitest';
import { formatGid, parseGid } from './gid.ts';
import { toRecordId } from './record-id.ts';

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
