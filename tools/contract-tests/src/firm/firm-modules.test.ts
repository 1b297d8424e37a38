import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const modules = join(import.meta.dirname, '../../../../packages/firm/src');

/** The modules of `firm` that a module of it imports, directly and through others. */
function firmModulesOf(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  const source = readFileSync(join(modules, file), 'utf8');
  for (const [, path = ''] of source.matchAll(/(?:from|import\() ?'(\.[^']+)'/g))
    firmModulesOf(join(dirname(file), path), known);
  return known;
}

test.each([
  ['partner/index.ts', /^(?:lender|team)\//],
  // Snapshots of events have the status of a referral.
  ['lender/index.ts', /^(?:partner|matters)\/|^referrals\/(?!referral\.ts)/],
  ['index.ts', /^(?:lender|matters|partner|team)\//],
])('firm/src/%s loads nothing of other folders', (entry, others) => {
  expect([...firmModulesOf(entry)].filter((file) => others.test(file))).toEqual([]);
});
