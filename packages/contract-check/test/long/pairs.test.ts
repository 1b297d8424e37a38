import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { comparePairs } from '../support/compare-pairs.ts';
import { folderForFile, writeIn } from '../support/folders.ts';

const folder = folderForFile();
const write = (path: string, text: string) => writeIn(folder, path, text);

test('prints the verdicts of a folder of pairs beside those of the last run', () => {
  write('api/1/old.graphql', 'type Query { a: Int b: Int }');
  write('api/1/new.graphql', 'type Query { a: Int }');
  write('events/1/old.json', '{ "type": "object" }');
  write('events/1/new.json', '{ "type": "object", "required": ["id"] }');
  write('partial/old.graphql', 'type Query { a: T }');
  write('partial/new.graphql', 'type Query { a: T b: T }');
  write('broken/old.graphql', 'type Query {');
  write('broken/new.graphql', 'type Query {');
  expect(comparePairs(folder)).toBe(
    [
      ' \tapi/1\tmajor\tnot compared before',
      ' \tbroken\terror: old.graphql:1: Syntax Error: Expected Name, found <EOF>.\tnot compared before',
      ' \tevents/1\tproducer minor, consumer major\tnot compared before',
      ' \tpartial\tminor\tnot compared before',
      '4 pairs, 0 with another verdict than in the last run',
    ].join('\n'),
  );
  const verdicts = readFileSync(join(folder, 'verdicts.json'), 'utf8');
  write('verdicts.json', verdicts.replace('"api/1": "major"', '"api/1": "minor"'));
  const again = comparePairs(folder);
  expect(again).toContain('!\tapi/1\tmajor\tminor\n');
  expect(again).toContain(' \tpartial\tminor\tminor\n4 pairs, 1 with another verdict than in the last run');
});
