import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';
import { sunsetProblems } from './sunset-plans.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sunset-plans-'));
  const ending = { status: 'deprecated', deprecatedOn: '2027-01-01', sunsetOn: '2028-01-01' };
  write('packages/lender-schema/versions.json', { '2026-11-01': ending, '2027-02-01': { ...ending, sunsetOn: null } });
  write('packages/webhook-events/versions.json', { 'referral.converted': { '2026-11-01': ending } });
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: object | string | null): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
}

const client = { client: 'client_1', pin: '2026-11-01', agreedOn: '2027-12-01' };
const plan = { version: 'lender@2026-11-01', sunsetOn: '2028-01-01', clients: [client] };
const planOfEvent = { ...plan, version: 'referral.converted@2026-11-01', clients: [] };
const withoutPlan = (version: string): string =>
  `${version}: its sunset on 2028-01-01 has no plan. Write .changeset/<name>.plan.json`;

test('every sunset of this tree has a plan', () => {
  expect(sunsetProblems(workspaceRoot)).toEqual([]);
});

test('a sunset needs a plan, also that of an event', () => {
  const [lender, event] = [withoutPlan('lender@2026-11-01'), withoutPlan('referral.converted@2026-11-01')];
  expect(sunsetProblems(root)).toEqual([lender, event]);
  write('.changeset/end-lender.plan.json', plan);
  expect(sunsetProblems(root)).toEqual([event]);
  write('.changeset/end-event.plan.json', planOfEvent);
  expect(sunsetProblems(root)).toEqual([]);
});

test('a sunset may be later than its plan, and not earlier', () => {
  write('.changeset/end-event.plan.json', planOfEvent);
  write('.changeset/end-lender.plan.json', { ...plan, sunsetOn: '2027-12-31' });
  expect(sunsetProblems(root)).toEqual([]);
  write('.changeset/end-lender.plan.json', { ...plan, sunsetOn: '2028-01-02' });
  expect(sunsetProblems(root)).toEqual([withoutPlan('lender@2026-11-01')]);
});

test.each([
  null,
  '{',
  { ...plan, clients: [null] },
  { ...plan, clients: undefined },
  { ...plan, clients: [{ ...client, agreedOn: '2028-01-02' }] },
  { ...plan, clients: [{ ...client, agreedOn: undefined }] },
  { ...plan, clients: [{ ...client, pin: undefined }] },
  { ...plan, clients: [{ ...client, client: '' }] },
  { ...plan, sunsetOn: 'soon' },
])('a plan that is not complete is refused: %j', (invalid) => {
  write('.changeset/end-event.plan.json', planOfEvent);
  write('.changeset/end-lender.plan.json', invalid);
  expect(sunsetProblems(root)).toEqual([
    expect.stringMatching(/^\.changeset\/end-lender\.plan\.json: needs version/),
    withoutPlan('lender@2026-11-01'),
  ]);
});
