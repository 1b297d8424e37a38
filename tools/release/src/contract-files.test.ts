import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { contractFilesIn, differsFromReleased, writeReleased } from './contract-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text = path): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

test('finds the contracts and versions.json, and no other file', () => {
  const contracts = [
    'json-schema/referral.created/2026-11-01.json',
    'versions.json',
    'versions/2026-11-01.graphql',
    'versions/2026-11-01.manifest.json',
  ];
  for (const path of [...contracts, 'versions/notes.md', 'package.json', 'dist/versions/2026-11-01.graphql'])
    write(path);
  expect(contractFilesIn(folder)).toEqual(contracts);
});

test('finds nothing in a package that has a versions.json but no contracts', () => {
  write('versions.json');
  expect(contractFilesIn(folder)).toEqual([]);
  expect(differsFromReleased(folder)).toEqual([]);
});

test('writeReleased() applies changes, additions and removals to released/', () => {
  write('versions/2026-11-01.graphql', 'old');
  write('versions/2025-01-01.graphql');
  writeReleased(folder);
  expect(differsFromReleased(folder)).toEqual([]);

  write('versions/2026-11-01.graphql', 'new');
  write('versions/2027-02-01.graphql');
  rmSync(join(folder, 'versions/2025-01-01.graphql'));
  expect(differsFromReleased(folder)).toEqual([
    'versions/2025-01-01.graphql',
    'versions/2026-11-01.graphql',
    'versions/2027-02-01.graphql',
  ]);
  writeReleased(folder);
  expect(differsFromReleased(folder)).toEqual([]);
  expect(contractFilesIn(join(folder, 'released'))).toEqual([
    'versions/2026-11-01.graphql',
    'versions/2027-02-01.graphql',
  ]);
});
