import { changedPaths, type RenderData, type SnapshotSchema, snapshotSchema, withChanged } from '@deedwire/core';
import { describe, expect, test } from 'vitest';
import { firm } from './index.ts';

/** Values that differ in what a renderer can lose: case, spaces, the spelling of a character, one part, the end. */
const texts = [
  '',
  'ada@lender.example',
  'Ada@lender.example',
  'bob@lender.example',
  'ada@other.example',
  ' ada@lender.example',
  'Zoë',
  'Zoë'.normalize('NFD'),
  '2026-11-03T09:30:00.000Z',
  '2026-11-03T09:30:00.001Z',
  `${'x'.repeat(300)}a`,
  `${'x'.repeat(300)}b`,
];
const lists = [[], ['a'], ['b'], ['a', 'b'], ['b', 'a'], ['a', 'a']];
const byType = new Map<unknown, readonly unknown[]>([
  ['array', lists],
  ['boolean', [false, true]],
  ['integer', [0, 1, 2, 1000]],
  ['null', [null]],
  ['number', [0, 1, 1.5, 1000]],
  ['string', texts],
]);

interface Field {
  path: string;
  values: readonly unknown[];
}

/** The values of a snapshot that an update can change. */
function fieldsOf({ properties = {} }: SnapshotSchema, parent = ''): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${parent}${name}`;
    if (path === 'changed') return [];
    if (schema.properties !== undefined) return fieldsOf(schema, `${path}.`);
    const values = [schema.type].flat().flatMap((type) => byType.get(type) ?? []);
    return [{ path, values: Array.isArray(schema.enum) ? schema.enum : values }];
  });
}

function replace(value: unknown, [name, ...rest]: readonly string[], other: unknown): unknown {
  if (name === undefined) return other;
  return { ...Object(value), [name]: replace(Object(value)[name], rest, other) };
}

const without = (value: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'changed'));

/** The changes from one value of a field to another of which `changed` says something else than the payloads before and after. */
function liesOf(render: RenderData<object>, sample: unknown, fields: readonly Field[]): string[] {
  const dataOf = (snapshot: object): Record<string, unknown> => ({ ...render(snapshot) });
  return fields.flatMap(({ path, values }) =>
    values.flatMap((from) =>
      values.flatMap((to) => {
        const before = without(Object(replace(sample, path.split('.'), from)));
        const after = without(Object(replace(sample, path.split('.'), to)));
        const { changed, ...data } = dataOf({ ...after, changed: changedPaths(before, after) });
        const expected = changedPaths(without(dataOf(before)), data);
        return JSON.stringify(changed) === JSON.stringify(expected)
          ? []
          : [`${path}: ${JSON.stringify([from, to])}: ${JSON.stringify(changed)}`];
      }),
    ),
  );
}

const updates = firm.events
  .filter(({ type }) => type.endsWith('.updated'))
  .flatMap((event) =>
    event.versions.flatMap(({ version, render, data }) =>
      render === null ? [] : [[event.type, version, { event, renderData: render, schema: data }] as const],
    ),
  );

describe.each(updates)('%s at %s', (_type, _version, { event, renderData, schema }) => {
  const sample: unknown = event.sample('service');
  const fields = fieldsOf(snapshotSchema(event));

  test('has every path of its data that differs in `changed`, and no other', () => {
    expect(fields.filter(({ values }) => values.length < 2)).toEqual([]);
    expect(liesOf(renderData, sample, fields)).toEqual([]);
  });

  test('has an empty list if it contains nothing of what changed', () => {
    const changed = ['addedLater', 'lender.addedLater'];
    expect(renderData({ ...Object(sample), changed })).toMatchObject({ changed: [] });
  });

  test('has null for the snapshot of an earlier build', () => {
    const data = renderData(without(Object(sample)));
    expect(data).toMatchObject({ changed: null });
    expect(schema.safeParse(data).success).toBe(true);
  });
});

interface Person {
  person: { name: string; email: string | null; roles: string[]; home: { city: string } | null };
}
const isPerson = (snapshot: object): snapshot is Person => 'person' in snapshot;
const person = { name: 'Ada', email: 'ada@x.example', roles: ['a'], home: { city: 'Zürich' } };
const fieldsOfPerson: Field[] = [
  { path: 'person.name', values: texts },
  { path: 'person.email', values: [null, ...texts] },
  { path: 'person.roles', values: lists },
  { path: 'person.home', values: [null, { city: 'Zürich' }, { city: 'Bern' }] },
];

const ofPerson = (render: RenderData<Person>): RenderData<object> =>
  withChanged<{ changed?: readonly string[] }>({ sample: () => ({ person, changed: [] }) }, (snapshot) =>
    isPerson(snapshot) ? render(snapshot) : {},
  );

test.each<[string, RenderData<Person>]>([
  ['flat', (snapshot) => ({ fullName: snapshot.person.name, address: snapshot.person.email })],
  ['as a whole', (snapshot) => ({ nested: { person: snapshot.person } })],
  ['in two places', ({ person: { email } }) => ({ a: email, b: { c: email } })],
  ['in one text', ({ person: { name, email } }) => ({ text: `${name.length}:${name} ${String(email)}` })],
  ['in other objects', ({ person: { home, roles } }) => ({ home: home && { place: home.city }, roles: [...roles] })],
])('finds the paths of values that are rendered %s', (_, render) => {
  expect(liesOf(ofPerson(render), { person }, fieldsOfPerson)).toEqual([]);
});

test.each<[string, RenderData<Person>]>([
  ['the domain of an address', ({ person: { email } }) => ({ domain: email?.split('@')[1] ?? null })],
  ['a name in lower case', ({ person: { name } }) => ({ name: name.toLowerCase() })],
  ['a name without spaces', ({ person: { name } }) => ({ name: name.trim() })],
  ['the beginning of a name', ({ person: { name } }) => ({ name: name.slice(0, 200) })],
  ['whether there is an address', ({ person: { email } }) => ({ hasEmail: email !== null })],
  ['the number of roles', ({ person: { roles } }) => ({ count: roles.length })],
])('the comparison finds a renderer that shows only %s', (_, render) => {
  expect(liesOf(ofPerson(render), { person }, fieldsOfPerson)).not.toEqual([]);
});
