import { expect, test } from 'vitest';
import { composedNotes } from './composed-notes.ts';

test('names what to change instead of a composed file, and which versions that reaches', () => {
  const output = `out of date: packages/lender-schema/versions/2027-02-01.graphql
packages/partner-schema/versions/2026-11-01.manifest.json:7  manifest/limitRemoved
out of date: docs/reference/lender/2026-11-01.md`;
  const first = 'packages/webhook-contract/editions/2026-11-01';
  const all = 'lender 2026-11-01, lender 2027-02-01 and partner 2026-11-01';
  expect(composedNotes(output)).toEqual([
    `packages/lender-schema/versions/2027-02-01.graphql is composed: change packages/lender-schema/own/2027-02-01.graphql, or ${first}.graphql, which reaches ${all}, or packages/webhook-contract/editions/2027-02-01.graphql, which reaches lender 2027-02-01.`,
    `packages/partner-schema/versions/2026-11-01.manifest.json is composed: change packages/partner-schema/own/2026-11-01.manifest.json, or ${first}.manifest.json, which reaches ${all}.`,
  ]);
  expect(composedNotes('out of date: docs/reference/lender/2026-11-01.md')).toEqual([]);
});
