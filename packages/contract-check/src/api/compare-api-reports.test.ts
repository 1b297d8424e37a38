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
const f = (signature: string): object => ({ kind: 'function', signature });
const union = { kind: 'union', signature: '', union: ["'A'", "'B'"] };
const post = f('(options: Options, tags?: string[]): Entry');
const loosened = { 'id?': 'string', 'note?': 'string' };
/** A declaration with more or other members. */
const withMembers = <Base extends { members: object }>(base: Base, members: object) => ({
  ...base,
  members: { ...base.members, ...members },
});
const plugin = { kind: 'interface', signature: '', members: { start: '(): void' } };
const ended = withMembers(plugin, { end: '(): void' });
const onEntry = '(entry: Entry, done: (text: string) => void) => void';
const open = { ...union, union: [...union.union, "'%future added value'"] };

const a = { kind: 'class', signature: '', members: { a: 'string' }, nominal: false };
const withConstructor = (signature: string, rest: object = {}): object => ({
  ...withMembers(a, { constructor: signature }),
  ...rest,
});

type Case = [rule: string, coordinate: string, from: Declarations, to: Declarations];

const cases: Case[] = [
  ['declarationAdded', 'Entry', {}, { Entry: plain }],
  ['declarationRemoved', 'Entry', { Entry: plain }, {}],
  ['declarationChanged', 'Entry', { Entry: plain }, { Entry: { ...plain, kind: 'class' } }],
  ['parameterAdded', 'post', { post }, { post: f('(options: Options, tags?: string[], signal?: AbortSignal): Entry') }],
  ['parameterAdded', 'post', { post }, { post: f('(options: Options, tags?: string[], ...rest: A[]): Entry') }],
  ['parameterRenamed', 'post', { post }, { post: f('({ id }: Options, labels?: string[]): Entry') }],
  [
    'parameterRenamed',
    'is',
    { is: f('(value: unknown): value is Entry') },
    { is: f('(entry: unknown): entry is Entry') },
  ],
  ['parameterLoosened', 'post', { post }, { post: f('(options?: Options, tags?: string[]): Entry') }],
  // A parameter that is required, inserted, changed, removed or no longer optional.
  ...[
    '(options: Options, tags?: string[], signal: AbortSignal): Entry',
    '(signal?: AbortSignal, options: Options, tags?: string[]): Entry',
    '(options: Options, tags?: number[]): Entry',
    '(options: Options): Entry',
    '(options: Options, tags: string[]): Entry',
    '(options: Options, ...tags: string[]): Entry',
    '(options: Options, tags?: string[], signal?: AbortSignal): Entry | null',
    '<T>(options: Options, tags?: string[], signal?: T): Entry',
    '(options: Options, tags?: string[]): Entry; (text: string): Entry',
  ].map((signature): Case => ['declarationChanged', 'post', { post }, { post: f(signature) }]),
  [
    'parameterRenamed',
    'Entry.on',
    { Entry: { ...input, members: { on: onEntry } } },
    { Entry: { ...input, members: { on: onEntry.replace('entry:', 'e:').replace('text:', 'line:') } } },
  ],
  [
    'memberChanged',
    'Entry.on',
    { Entry: { ...input, members: { on: onEntry } } },
    { Entry: { ...input, members: { on: onEntry.replace('entry:', 'entry?:') } } },
  ],
  ['memberLoosened', 'Options.id', { post, Options: input }, { post, Options: { ...input, members: loosened } }],
  // Callers also receive it: from a function, or as an argument of their own function.
  ...[
    '(options: Options): Options',
    '(on: (options: Options) => void): void',
    '(on: { done(options: Options): void; }): void',
  ].map((signature): Case => {
    const declarations = { post: f(signature), Options: input };
    const changed = { ...declarations, Options: { ...input, members: loosened } };
    return ['memberChanged', 'Options.id', declarations, changed];
  }),
  ['memberAdded', 'Entry.amount', { Entry: plain }, { Entry: withMembers(plain, { amount: 'number' }) }],
  ['memberAdded', 'Entry.amount', { Entry: input }, { Entry: withMembers(input, { 'amount?': 'number' }) }],
  ['requiredMemberAdded', 'Entry.amount', { Entry: input }, { Entry: withMembers(input, { amount: 'number' }) }],
  ['memberRemoved', 'Entry.note', { Entry: plain }, { Entry: { ...plain, members: { id: 'string' } } }],
  ['memberChanged', 'Entry.id', { Entry: plain }, { Entry: withMembers(plain, { id: 'ID' }) }],
  ['memberChanged', 'Entry.id', { Entry: plain }, { Entry: { ...plain, members: loosened } }],
  [
    'memberGuaranteed',
    'Entry.note',
    { Entry: plain },
    { Entry: { ...plain, members: { id: 'string', note: 'string' } } },
  ],
  ['memberChanged', 'Entry.note', { Entry: input }, { Entry: { ...input, members: { id: 'string', note: 'string' } } }],
  // The constructor of a class without one has no parameters, or those of the class that it extends.
  ...['private ()', 'protected ()', '(text: string)'].map((signature): Case => [
    'memberChanged',
    'A.constructor',
    { A: a },
    { A: withConstructor(signature) },
  ]),
  [
    'memberChanged',
    'A.constructor',
    { A: { ...a, signature: 'extends B' } },
    { A: withConstructor('(text?: string)', { signature: 'extends B' }) },
  ],
  ['parameterAdded', 'A.constructor', { A: a }, { A: withConstructor('(text?: string)') }],
  ['memberChanged', 'A.constructor', { A: withConstructor('(text: string)') }, { A: a }],
  ['classNominal', 'A', { A: a }, { A: { ...a, nominal: true } }],
  ['requiredMemberAdded', 'A.b', { A: a }, { A: withMembers(a, { b: 'protected abstract (): string' }) }],
  ...(
    [
      ['declarationChanged', '(): A', '(): B'],
      [
        'parameterAdded',
        '(a: A): B; <T extends A = A>(a: T, b: B): T',
        '(x: A): B; <T extends A = A>(a: T, b: B, c?: { d: string; }): T',
      ],
      ['declarationChanged', '(this: Date, text: string): void', '(self: Date, text: string): void'],
      // An overload that takes the calls of a later one.
      ['declarationChanged', '(a: A): A; (a: A, b: B): B', '(a: A, b?: B): A; (a: A, b: B): B'],
      ['declarationChanged', '(a: A): A; (): B', '(a?: A): A; (): B'],
      // Types that name parameters.
      ['parameterRenamed', '(x: A): asserts x is B', '(y: A): asserts y is B'],
      ['declarationChanged', '(a: A, b: A): asserts a is B', '(b: A, a: A): asserts a is B'],
      ['parameterRenamed', '(a: A, b: typeof a): typeof a', '(x: A, b: typeof x): typeof x'],
      ['declarationChanged', '(a: A, b: B): typeof a', '(b: A, a: B): typeof a'],
      ['declarationChanged', '({ a }: A): typeof a', '({ b: a }: A): typeof a'],
      ['declarationChanged', '(a: A, g: (b: B) => typeof a): void', '(a: A, g: (b: B) => typeof b): void'],
      ['parameterAdded', '(a: A): (x: B) => typeof a', '(a: A, g?: (y: B) => void): (x: B) => typeof a'],
    ] as const
  ).map(([rule, from, to]): Case => [rule, 'f', { f: f(from) }, { f: f(to) }]),
  // Types of which only callers create values.
  [
    'declarationChanged',
    'Plugin',
    { Plugin: { kind: 'type', signature: '(text: string) => void' } },
    { Plugin: { kind: 'type', signature: '(text?: string) => void' } },
  ],
  ['requiredMemberAdded', 'Plugin.end', { Plugin: plugin }, { Plugin: ended }],
  // Received, so that the package creates them.
  ['memberAdded', 'Plugin.end', { f: f('(): Plugin'), Plugin: plugin }, { f: f('(): Plugin'), Plugin: ended }],
  [
    'memberChanged',
    'A.on',
    { A: { ...a, members: { on: '(text: string) => void' } } },
    { A: { ...a, members: { on: '(text?: string) => void' } } },
  ],
  [
    'parameterLoosened',
    'A.on',
    { A: { ...a, members: { on: 'readonly (text: string) => void' } } },
    { A: { ...a, members: { on: 'readonly (text?: string) => void' } } },
  ],
  ['unionMemberAdded', 'Kind', { Kind: union }, { Kind: { ...union, union: [...union.union, "'C'"] } }],
  ['openUnionMemberAdded', 'Kind', { Kind: open }, { Kind: { ...open, union: [...open.union, "'C'"] } }],
  ['openUnionMemberAdded', 'Listed', { Listed: union }, { Listed: { ...union, union: [...union.union, "'C'"] } }],
  ['unionMemberRemoved', 'Kind', { Kind: open }, { Kind: union }],
];

test.each(cases)('%s: %s', (rule, coordinate, from, to) => {
  const { changes } = compareApiReports(source('from', from), source('to', to), { openUnions: ['Listed'] });
  expect(changes.map((change) => [change.rule.replace('api/', ''), change.coordinate])).toEqual([[rule, coordinate]]);
});

test.each([
  ['that callers could not call', withConstructor('private ()'), withConstructor('(text: string)')],
  [
    'that older reports print after the one of Object',
    withConstructor('function Object() { [native code] }; (text: string)'),
    withConstructor('(text: string)'),
  ],
  ['that older reports do not list', { ...a, nominal: undefined }, withConstructor('private ()')],
])('a constructor %s may change', (_, from, to) => {
  expect(compareApiReports(source('from', { A: from }), source('to', { A: to })).changes).toEqual([]);
});

test('an older report, without `typeOnly` and `references`, has no changes of them', () => {
  const A = { ...a, typeOnly: true, references: { string: 'string of a' } };
  const from = { file: 'from', text: JSON.stringify({ declarations: { A: a } }) };
  const to = { file: 'to', text: JSON.stringify({ format: 2, declarations: { A } }) };
  expect(compareApiReports(from, to).changes).toEqual([]);
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
    "api/index.api.json:3: /declarations/Entry must have required property 'signature'",
  );
});
