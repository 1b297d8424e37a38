import { expect, test } from 'vitest';
import { InputError } from '../input-error.ts';
import { compareApiReports } from './compare-api-reports.ts';
import { apiRules } from './rules.ts';

type Declarations = Readonly<Record<string, object>>;

function source(file: string, declarations: Declarations) {
  return { file, text: JSON.stringify({ declarations }) };
}

const plain = { kind: 'interface', signature: '', members: { id: 'string', 'note?': 'string' } };
const input = { ...plain, input: true };
const union = { kind: 'union', signature: '', union: ["'A'", "'B'"] };
const open = { ...union, union: [...union.union, "'%future added value'"] };

const cases: [rule: string, coordinate: string, from: Declarations, to: Declarations][] = [
  ['declarationAdded', 'Entry', {}, { Entry: plain }],
  ['declarationRemoved', 'Entry', { Entry: plain }, {}],
  ['declarationChanged', 'Entry', { Entry: plain }, { Entry: { ...plain, kind: 'class' } }],
  [
    'declarationChanged',
    'f',
    { f: { kind: 'function', signature: '(): A' } },
    { f: { kind: 'function', signature: '(): B' } },
  ],
  [
    'memberAdded',
    'Entry.amount',
    { Entry: plain },
    { Entry: { ...plain, members: { ...plain.members, amount: 'number' } } },
  ],
  [
    'memberAdded',
    'Entry.amount',
    { Entry: input },
    { Entry: { ...input, members: { ...input.members, 'amount?': 'number' } } },
  ],
  [
    'requiredMemberAdded',
    'Entry.amount',
    { Entry: input },
    { Entry: { ...input, members: { ...input.members, amount: 'number' } } },
  ],
  ['memberRemoved', 'Entry.note', { Entry: plain }, { Entry: { ...plain, members: { id: 'string' } } }],
  ['memberChanged', 'Entry.id', { Entry: plain }, { Entry: { ...plain, members: { ...plain.members, id: 'ID' } } }],
  [
    'memberChanged',
    'Entry.id',
    { Entry: plain },
    { Entry: { ...plain, members: { 'id?': 'string', 'note?': 'string' } } },
  ],
  [
    'memberGuaranteed',
    'Entry.note',
    { Entry: plain },
    { Entry: { ...plain, members: { id: 'string', note: 'string' } } },
  ],
  ['memberChanged', 'Entry.note', { Entry: input }, { Entry: { ...input, members: { id: 'string', note: 'string' } } }],
  ['unionMemberAdded', 'Kind', { Kind: union }, { Kind: { ...union, union: [...union.union, "'C'"] } }],
  ['openUnionMemberAdded', 'Kind', { Kind: open }, { Kind: { ...open, union: [...open.union, "'C'"] } }],
  ['openUnionMemberAdded', 'Listed', { Listed: union }, { Listed: { ...union, union: [...union.union, "'C'"] } }],
  ['unionMemberRemoved', 'Kind', { Kind: open }, { Kind: union }],
];

test.each(cases)('%s: %s', (rule, coordinate, from, to) => {
  const { changes } = compareApiReports(source('from', from), source('to', to), { openUnions: ['Listed'] });
  expect(changes.map((change) => [change.rule.replace('api/', ''), change.coordinate])).toEqual([[rule, coordinate]]);
});

test('every rule has a case', () => {
  const covered = new Set(cases.map(([rule]) => rule));
  expect(Object.keys(apiRules).filter((rule) => !covered.has(rule))).toEqual([]);
});

test('reports an added object once, not once per member', () => {
  const nested = { ...plain, members: { ...plain.members, data: '{}', 'data.id': 'string' } };
  const { changes } = compareApiReports(source('from', { Entry: plain }), source('to', { Entry: nested }));
  expect(changes.map(({ coordinate }) => coordinate)).toEqual(['Entry.data']);
});

test('rejects a file that is not a report, with the place', () => {
  const broken = { file: 'api/index.api.json', text: '{\n"declarations": {\n"Entry": { "kind": "type" } } }' };
  expect(() => compareApiReports(broken, broken)).toThrow(InputError);
  expect(() => compareApiReports(broken, broken)).toThrow(
    'api/index.api.json:3: /declarations/Entry/signature must be',
  );
});
