import { expect, test } from 'vitest';
import { fragmentOf, pathOf, resolveAddress } from './schema-index.ts';

test.each([
  ['a.json', 'https://example.com/schemas/root.json', 'https://example.com/schemas/a.json'],
  ['urn:a', '', 'urn:a'],
  ['a.json', '', 'a.json'],
])('resolves %s against %j', (address, base, resolved) => {
  expect(resolveAddress(address, base)).toBe(resolved);
});

test.each([
  ['a.json', ''],
  ['a.json#/$defs/a%20b', '/$defs/a b'],
  ['#anchor', 'anchor'],
  ['#/%E0%A4%A', '/%E0%A4%A'],
])('the fragment of %s is %j', (reference, fragment) => {
  expect(fragmentOf(reference)).toBe(fragment);
});

test.each([
  ['../shared/a%20b.json', 'parts/entry.json', '', 'shared/a b.json'],
  ['https://example.com/schemas/a.json', '', 'https://example.com/schemas/root.json', 'a.json'],
  ['https://example.com/schemas/a.json', 'parts/entry.json', 'https://example.com/schemas/entry.json', 'parts/a.json'],
  ['https://example.org/a.json', '', 'https://example.com/schemas/root.json', null],
  ['https://example.com/schemas/a.json', '', '', null],
])('the path of %s from %j of %j is %j', (address, documentPath, rootAddress, path) => {
  expect(pathOf(address, documentPath, rootAddress)).toBe(path);
});
