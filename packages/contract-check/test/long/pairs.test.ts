import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { comparePairs } from '../support/compare-pairs.ts';

const folder = mkdtempSync(join(tmpdir(), 'contract-check-pairs-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

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
  const file = join(folder, 'verdicts.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"api/1": "major"', '"api/1": "minor"'));
  const again = comparePairs(folder);
  expect(again).toContain('!\tapi/1\tmajor\tminor\n');
  expect(again).toContain(' \tpartial\tminor\tminor\n4 pairs, 1 with another verdict than in the last run');
});
