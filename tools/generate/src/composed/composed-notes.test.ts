import { testLayout } from '@deedwire/layout/test-layout';
import { expect, test } from 'vitest';
import { composedNotes } from './composed-notes.ts';

test('names what to change instead of a composed file, and which versions that reaches', async () => {
  const layout = { ...(await testLayout()), interfaceNames: ['customer', 'supplier'] };
  const [customer, supplier] = ['customer', 'supplier'].map(layout.contractOf);
  const output = `out of date: ${supplier}/versions/2027-02-01.graphql
${customer}/versions/2026-11-01.manifest.json:7  manifest/limitRemoved
out of date: docs/reference/supplier/2026-11-01.md`;
  const first = 'packages/webhook-contract/editions/2026-11-01';
  const all = 'customer 2026-11-01, supplier 2026-11-01 and supplier 2027-02-01';
  expect(composedNotes([layout], output)).toEqual([
    `${customer}/versions/2026-11-01.manifest.json is composed: change ${customer}/own/2026-11-01.manifest.json, or ${first}.manifest.json, which reaches ${all}.`,
    `${supplier}/versions/2027-02-01.graphql is composed: change ${supplier}/own/2027-02-01.graphql, or ${first}.graphql, which reaches ${all}, or packages/webhook-contract/editions/2027-02-01.graphql, which reaches supplier 2027-02-01.`,
  ]);
  expect(composedNotes([layout], 'out of date: docs/reference/supplier/2026-11-01.md')).toEqual([]);
});
