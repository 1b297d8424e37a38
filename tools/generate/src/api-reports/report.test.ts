import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compareApiReports } from '@deedwire/contract-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workspaceRoot } from '../workspace-files.ts';
import { emitDeclarations } from './emit-declarations.ts';
import { reportsOf, type ApiReport } from './report.ts';

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

function declarationsOf(path: string, outDir = folder): ApiReport['declarations'] | undefined {
  return reportsOf(outDir, [path]).get(path)?.declarations;
}

/** Compares the committed report of a package with that of changed declarations. */
function compareWithCommitted(committed: string, path: string, outDir = folder): string[] {
  const from = { file: committed, text: readFileSync(join(packages, committed), 'utf8') };
  const to = { file: 'changed', text: JSON.stringify(reportsOf(outDir, [path]).get(path)) };
  return compareApiReports(from, to).changes.map(
    ({ verdict, coordinate, message }) => `${verdict} ${coordinate}: ${message}`,
  );
}

test('describes exported declarations and those that they refer to', () => {
  write(
    'kind.d.ts',
    "export type Kind = 'b' | 'a';\nexport interface Unused { x: string }\nexport interface Options { kind?: Kind }\n",
  );
  write(
    'index.d.ts',
    `import { type Kind, type Options } from './kind.ts';
     /** Documentation is not part of the report. */
     export declare function post(options: Options): Entry;
     export declare class Entry<T = string> extends Map<string, T> {
       #hidden;
       private secret;
       static of(kind: Kind): Entry;
       readonly data: { id: string; note?: string | null; tags: { name: string }[] } | null;
     }
     export declare const limit = 10;
     export type { Kind } from './kind.ts';`,
  );
  expect(declarationsOf('index.d.ts')).toEqual({
    Entry: {
      kind: 'class',
      signature: '<T = string> extends Map<string, T>',
      members: {
        data: 'readonly {} | null',
        'data.id': 'string',
        'data.note?': 'string | null',
        'data.tags': '{}[]',
        'data.tags.name': 'string',
        of: 'static (kind: Kind): Entry',
      },
    },
    Kind: { kind: 'union', signature: '', union: ["'a'", "'b'"], input: true },
    'kind.Options': { kind: 'interface', signature: '', members: { 'kind?': 'Kind' }, input: true },
    limit: { kind: 'value', signature: '10' },
    post: { kind: 'function', signature: '(options: Options): Entry' },
  });
});

test('a renamed error code of webhook-signing is major', () => {
  const outDir = emitDeclarations(join(packages, 'webhook-signing'), folder);
  expect(compareWithCommitted('webhook-signing/api/web.api.json', 'web.d.ts', outDir)).toEqual([]);
  const errors = readFileSync(join(outDir, 'errors.d.ts'), 'utf8');
  writeFileSync(join(outDir, 'errors.d.ts'), errors.replaceAll('TIMESTAMP_TOO_OLD', 'TIMESTAMP_EXPIRED'));
  expect(compareWithCommitted('webhook-signing/api/web.api.json', 'web.d.ts', outDir)).toEqual([
    "major WebhookVerificationErrorCode: 'TIMESTAMP_EXPIRED' was added.",
    "major WebhookVerificationErrorCode: 'TIMESTAMP_TOO_OLD' was removed.",
  ]);
});

test('closed enums in the generated types of an interface are major', () => {
  const types = readFileSync(join(packages, 'lender-schema/src/generated/2026-11-01.ts'), 'utf8');
  write('open.d.ts', types);
  write('closed.d.ts', types.replaceAll(/\n {2}\| '%future added value'/g, ''));
  expect(compareWithCommitted('lender-schema/api/2026-11-01.api.json', 'open.d.ts')).toEqual([]);
  const changes = compareWithCommitted('lender-schema/api/2026-11-01.api.json', 'closed.d.ts');
  expect(changes.length).toBeGreaterThan(3);
  expect(changes).toContain("major ErrorCode: '%future added value' was removed.");
});
