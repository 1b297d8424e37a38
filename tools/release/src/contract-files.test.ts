import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { contractFilesOf } from './contract-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text = path): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

test('finds the contracts, the append-only files and versions.json, and no other file', () => {
  const contracts = [
    'api/index.api.json',
    'error-codes.json',
    'json-schema/order.placed/2026-11-01.json',
    'versions.json',
    'versions/2026-11-01.graphql',
    'versions/2026-11-01.manifest.json',
  ];
  for (const path of [...contracts, 'versions/notes.md', 'package.json', 'dist/versions/2026-11-01.graphql'])
    write(path);
  write('package.json', '{ "contractCheck": { "appendOnly": ["error-codes.json"] } }');
  expect(contractFilesOf(folder)).toEqual(contracts);
});

test('finds nothing in a package that has a versions.json but no contracts', () => {
  write('versions.json');
  expect(contractFilesOf(folder)).toEqual([]);
});
