import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compareApiReports, createApiReports } from '@deedwire/contract-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clientTypes } from '../schema-packages/schema-packages.ts';
import { workspaceRoot } from '../workspace-files.ts';
import { emitDeclarations } from './api-reports.ts';

const packages = join(workspaceRoot, 'packages');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Compares the committed report of a package with that of changed declarations. */
async function compareWithCommitted(committed: string, path: string, outDir = folder): Promise<string[]> {
  const from = { file: committed, text: readFileSync(join(packages, committed), 'utf8') };
  const [text = ''] = (await createApiReports([join(outDir, path)])).values();
  const to = { file: 'changed', text };
  return compareApiReports(from, to).changes.map(
    ({ verdict, coordinate, message }) => `${verdict} ${coordinate}: ${message}`,
  );
}

test('a renamed error code of webhook-signing is major', async () => {
  const outDir = emitDeclarations(join(packages, 'webhook-signing'), folder);
  expect(await compareWithCommitted('webhook-signing/api/web.api.json', 'web.d.ts', outDir)).toEqual([]);
  const errors = readFileSync(join(outDir, 'errors.d.ts'), 'utf8');
  writeFileSync(join(outDir, 'errors.d.ts'), errors.replaceAll('TIMESTAMP_TOO_OLD', 'TIMESTAMP_EXPIRED'));
  expect(await compareWithCommitted('webhook-signing/api/web.api.json', 'web.d.ts', outDir)).toEqual([
    "major WebhookVerificationErrorCode: 'TIMESTAMP_EXPIRED' was added.",
    "major WebhookVerificationErrorCode: 'TIMESTAMP_TOO_OLD' was removed.",
  ]);
});

test('closed enums in the generated types of an interface are major', async () => {
  const types = await clientTypes([
    {
      date: '2026-11-01',
      sdl: 'enum Status { OPEN CLOSED } type Query { status: Status! }',
      manifest: { errors: { NOT_FOUND: { status: {} } } },
    },
  ]);
  const text = types.get('2026-11-01') ?? '';
  write('open.d.ts', text);
  write('closed.d.ts', text.replaceAll(/\n {2}\| '%future added value'/g, ''));
  const [from = '', to = ''] = (
    await createApiReports(['open.d.ts', 'closed.d.ts'].map((path) => join(folder, path)))
  ).values();
  const compared = compareApiReports({ file: 'open', text: from }, { file: 'closed', text: to }).changes;
  const changes = compared.map(({ verdict, coordinate, message }) => `${verdict} ${coordinate}: ${message}`);
  expect(changes).toEqual([
    "major ErrorCode: '%future added value' was removed.",
    "major Status: '%future added value' was removed.",
  ]);
});
