import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';
import { contractFolders, sunsetProblems } from './sunset-plans.ts';

const ofSample = ['packages/supplier-schema', 'packages/webhook-events'];
let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sunset-plans-'));
  const ending = { status: 'deprecated', deprecatedOn: '2027-01-01', sunsetOn: '2028-01-01' };
  write('packages/supplier-schema/versions.json', {
    '2026-11-01': ending,
    '2027-02-01': { ...ending, sunsetOn: null },
  });
  write('packages/webhook-events/versions.json', { 'order.placed': { '2026-11-01': ending } });
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: object | string | null): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
}

const client = { client: 'client_1', pin: '2026-11-01', agreedOn: '2027-12-01' };
const plan = { version: 'supplier@2026-11-01', sunsetOn: '2028-01-01', clients: [client] };
const planOfEvent = { ...plan, version: 'order.placed@2026-11-01', clients: [] };
const problems = (at: Date | null) =>
  sunsetProblems(root, ofSample, at).map((problem) => problem.split(' --', 1).join(''));
const withoutPlan = (version: string): string =>
  `${version}: its sunset on 2028-01-01 has no plan. Write .changeset/<name>.plan.json`;

test('every sunset of this tree has a plan', async () => {
  const folders = await contractFolders();
  expect(folders).toEqual(
    expect.arrayContaining(['packages/webhook-contract', 'tools/test-service/src/customer/contract']),
  );
  expect(sunsetProblems(workspaceRoot, folders)).toEqual([]);
});

test('a sunset needs a plan, including that of an event', () => {
  const [supplier, event] = [withoutPlan('supplier@2026-11-01'), withoutPlan('order.placed@2026-11-01')];
  expect(sunsetProblems(root, ofSample)).toEqual([supplier, event]);
  write('.changeset/end-supplier.plan.json', plan);
  expect(sunsetProblems(root, ofSample)).toEqual([event]);
  write('.changeset/end-event.plan.json', planOfEvent);
  expect(sunsetProblems(root, ofSample)).toEqual([]);
});

test('a sunset may be later than its plan, and not earlier', () => {
  write('.changeset/end-event.plan.json', planOfEvent);
  write('.changeset/end-supplier.plan.json', { ...plan, sunsetOn: '2027-12-31' });
  expect(sunsetProblems(root, ofSample)).toEqual([]);
  write('.changeset/end-supplier.plan.json', { ...plan, sunsetOn: '2028-01-02' });
  expect(sunsetProblems(root, ofSample)).toEqual([withoutPlan('supplier@2026-11-01')]);
});

describe('a removed version that was released', () => {
  const now = new Date('2028-02-02T12:00:00Z');
  const retired = {
    answer: 'yes',
    subject: 'supplier@2026-11-01',
    question: 'can-i-retire',
    environment: 'production',
    takenAt: '2028-02-01T12:00:00Z',
  };
  const removed = ['supplier@2026-11-01: it is removed, and may be in use. Add a yes of contract-check can-i-retire'];
  beforeEach(() => {
    write('packages/supplier-schema/releases.json', {
      '1.0.0': { '2026-11-01': { status: 'current' }, '2027-02-01': { status: 'preview' } },
      '1.1.0': { '2026-11-01': { status: 'deprecated' } },
    });
    write('packages/supplier-schema/versions.json', {});
    write('packages/webhook-events/versions.json', {});
    write('.changeset/end-supplier.plan.json', { ...plan, retired });
  });

  test('needs a yes in its plan, and for its release one that is at most a day old', () => {
    expect(problems(null)).toEqual([]);
    expect(problems(now)).toEqual([]);
    expect(problems(new Date('2028-02-02T12:00:01Z'))).toEqual(removed);
    expect(problems(new Date('2028-02-01T11:00:00Z'))).toEqual(removed);
  });

  test.each([
    undefined,
    { ...retired, answer: 'no' },
    { ...retired, answer: 'unknown' },
    { ...retired, subject: 'supplier@2027-02-01' },
    { ...retired, question: 'can-i-deploy' },
    { ...retired, environment: '' },
  ])('is refused with another answer: %j', (answer) => {
    write('.changeset/end-supplier.plan.json', { ...plan, retired: answer });
    expect(problems(null)).toEqual(removed);
  });

  test('is refused without its plan, and as retired in versions.json', () => {
    rmSync(join(root, '.changeset/end-supplier.plan.json'));
    write('packages/supplier-schema/versions.json', { '2026-11-01': { status: 'retired' } });
    expect(problems(null)).toEqual(removed);
  });

  test('needs no answer once its removal is released', () => {
    rmSync(join(root, '.changeset/end-supplier.plan.json'));
    write('packages/supplier-schema/releases.json', {
      '1.0.0': { '2026-11-01': { status: 'current' } },
      '2.0.0': { '2026-11-01': { status: null } },
    });
    expect(problems(null)).toEqual([]);
  });

  test('of an event needs an answer, too', () => {
    write('packages/webhook-events/releases.json', {
      '1.0.0': { 'order.placed/2026-11-01': { status: 'current' } },
    });
    expect(problems(null)).toEqual([expect.stringMatching(/^order\.placed@2026-11-01: it is removed/)]);
  });
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
  write('.changeset/end-supplier.plan.json', invalid);
  expect(sunsetProblems(root, ofSample)).toEqual([
    expect.stringMatching(/^\.changeset\/end-supplier\.plan\.json: needs version/),
    withoutPlan('supplier@2026-11-01'),
  ]);
});
