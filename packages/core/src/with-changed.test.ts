import { expect, test } from 'vitest';
import { changedPaths } from './changed-paths.ts';
import { withChanged } from './with-changed.ts';

interface Order {
  dueOn: string | null;
  paidAt: string;
  amount: number | null;
  home: { city: string; zip: string } | null;
  lines: readonly { sku: string }[];
  note?: string;
  'a.b': string;
  a: { b: string };
}
interface Updated extends Order {
  readonly changed?: readonly string[];
}
const sample: Required<Order> = {
  dueOn: '2026-11-03',
  paidAt: '2026-11-03T09:30:00.000Z',
  amount: 1,
  home: { city: 'Zürich', zip: '8001' },
  lines: [{ sku: ' a ' }],
  note: '',
  'a.b': 'x',
  a: { b: 'x' },
};

/** `changed` of an order that had other values before. */
function changedOf(render: (order: Order) => object, before: Partial<Order>, after: Partial<Order>): unknown {
  const { note: _, ...order } = sample;
  const snapshot = { ...order, ...after };
  const rendered = withChanged<Updated>(
    { sample: () => ({ ...sample, changed: [] }) },
    render,
  )(Object.freeze({ ...snapshot, changed: changedPaths({ ...order, ...before }, snapshot) }));
  return Reflect.get(rendered, 'changed');
}

function cityOf(home: Order['home']): string {
  if (home === null) throw new TypeError('There is no home.');
  return home.city;
}

const toTime = (text: string): string => new Date(text).toISOString();

test.each<[string, (order: Order) => object, Partial<Order>, Partial<Order>, string[]]>([
  ['a time', ({ paidAt }) => ({ paid: toTime(paidAt) }), { paidAt: '2026-01-01T00:00:00.000Z' }, {}, ['paid']],
  ['a time in ms', ({ paidAt }) => ({ paid: Date.parse(paidAt) }), { paidAt: '2001-02-03T00:00:00Z' }, {}, ['paid']],
  ['a day', ({ dueOn }) => ({ due: dueOn && toTime(dueOn) }), { dueOn: '2001-02-03' }, {}, ['due']],
  ['a day that became null', ({ dueOn }) => ({ due: dueOn && toTime(dueOn) }), {}, { dueOn: null }, ['due']],
  [
    'a number that became null',
    ({ amount }) => ({ sum: amount === null ? null : amount.toFixed(2) }),
    {},
    { amount: null },
    ['sum'],
  ],
  [
    'each part of an object that became null',
    ({ home }) => ({ home: home && { city: home.city.toUpperCase() }, city: home?.city ?? null }),
    {},
    { home: null },
    ['city', 'home'],
  ],
  [
    'a list that became empty',
    ({ lines }) => ({ skus: lines.map(({ sku }) => sku.trim()) }),
    {},
    { lines: [] },
    ['skus'],
  ],
  [
    'a copy',
    ({ home }) => ({ home: structuredClone(home) }),
    { home: { city: 'Bern', zip: '8001' } },
    {},
    ['home.city'],
  ],
  ['a text that was removed', ({ note = null }) => ({ note }), { note: 'x' }, {}, ['note']],
  ['one of two members with one path', (order) => ({ x: order['a.b'], y: order.a.b }), { 'a.b': 'y' }, {}, ['x', 'y']],
  [
    'two members with one path',
    (order) => ({ 'a.b': order['a.b'], a: { b: order.a.b } }),
    { 'a.b': 'y', a: { b: 'y' } },
    {},
    ['a.b'],
  ],
  ['nothing of what it does not read', ({ amount }) => ({ amount }), { dueOn: null }, {}, []],
])('names %s', (_, render, before, after, expected) => {
  expect(changedOf(render, before, after)).toEqual(expected);
});

test.each<[string, (order: Order) => object, Partial<Order>]>([
  ['fails without the object that was null', ({ home }) => ({ city: cityOf(home) }), { home: null }],
  ['renders both values to the same', ({ amount }) => ({ hasAmount: amount !== null }), { amount: 2 }],
  [
    'shows one change of two',
    ({ amount, dueOn }) => ({ amount, hasDay: dueOn !== null }),
    { amount: 2, dueOn: '2026-01-01' },
  ],
])('does not know what changed if the renderer %s', (_, render, before) => {
  expect(changedOf(render, before, {})).toBe(null);
});
