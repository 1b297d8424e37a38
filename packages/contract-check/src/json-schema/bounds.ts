import { JsonNumber, ownMember } from '../json/json-value.ts';
import type { Schema } from './schema-document.ts';
import { requiredProperties } from './shape.ts';
import { isInteger, type InstanceType } from './value-set.ts';

type Side = 'upper' | 'lower';

interface Point {
  readonly value: JsonNumber;
  /** Whether the bound excludes the value itself (`exclusiveMaximum`). */
  readonly open: boolean;
}

interface Bound {
  /** The start of a sentence about the bound. */
  readonly name: string;
  readonly side: Side;
  readonly points: (all: readonly Schema[]) => readonly Point[];
  /** What other keywords imply. It decides how a bound changes, but is not itself a bound. */
  readonly implied?: (all: readonly Schema[]) => readonly Point[];
}

const boundsOfType: Readonly<Record<InstanceType, readonly Bound[]>> = {
  string: [count('minLength', 'lower'), count('maxLength', 'upper')],
  array: [count('minItems', 'lower'), count('maxItems', 'upper')],
  object: [
    {
      ...count('minProperties', 'lower'),
      implied: (all) => [{ value: JsonNumber.parse(String(requiredProperties(all).size)), open: false }],
    },
    count('maxProperties', 'upper'),
  ],
  number: [
    { name: 'The lower bound', side: 'lower', points: (all) => numericPoints(all, 'minimum', 'exclusiveMinimum') },
    { name: 'The upper bound', side: 'upper', points: (all) => numericPoints(all, 'maximum', 'exclusiveMaximum') },
  ],
  boolean: [],
};

/** The bounds that differ, printed. `from` and `to` are null if there is no bound. */
export function compareBounds(type: InstanceType, from: readonly Schema[], to: readonly Schema[]) {
  return boundsOfType[type].flatMap(({ name, side, points, implied = () => [] }) => {
    const [before, after] = [tightest(points(from), side), tightest(points(to), side)];
    if (!isTighter(after, before, side) && !isTighter(before, after, side)) return [];
    const effective = (all: readonly Schema[]): Point | null => tightest([...points(all), ...implied(all)], side);
    const tightened = isTighter(effective(to), effective(from), side);
    if (!tightened && !isTighter(effective(from), effective(to), side)) return [];
    return [{ name, from: show(before), to: show(after), tightened }];
  });
}

/** Whether no value is within the bounds. */
export function excludesAll(type: InstanceType, all: readonly Schema[]): boolean {
  const ends = boundsOfType[type].map(({ side, points, implied = () => [] }) =>
    tightest([...points(all), ...implied(all)], side),
  );
  const [lower = null, upper = null] = ends;
  const order = lower === null || upper === null ? -1 : lower.value.compare(upper.value);
  return order > 0 || (order === 0 && ends.some((end) => end?.open === true));
}

function isTighter(point: Point | null, than: Point | null, side: Side): boolean {
  if (point === null || than === null) return point !== null;
  const order = point.value.compare(than.value);
  if (order === 0) return point.open && !than.open;
  return side === 'upper' ? order < 0 : order > 0;
}

function tightest(points: readonly Point[], side: Side): Point | null {
  return points.reduce<Point | null>((best, point) => (isTighter(point, best, side) ? point : best), null);
}

function count(keyword: string, side: Side): Bound {
  return {
    name: keyword,
    side,
    // A count cannot be below 0, so a lower bound of 0 is no bound.
    points: (all) =>
      numbers(all, keyword).flatMap((value) => (side === 'lower' && value.sign === 0 ? [] : [{ value, open: false }])),
  };
}

function numericPoints(all: readonly Schema[], inclusive: string, exclusive: string): Point[] {
  const integer = isInteger(all);
  return all.flatMap((schema) => {
    // Draft 4: `exclusiveMaximum: true` modifies the `maximum` of the same schema.
    const open = ownMember(schema, exclusive) === true;
    const points = [
      ...numbers([schema], inclusive).map((value) => ({ value, open })),
      ...numbers([schema], exclusive).map((value) => ({ value, open: true })),
    ];
    return integer ? points.map((point) => ofIntegers(point, inclusive === 'maximum' ? 'upper' : 'lower')) : points;
  });
}

/** The closed bound that is equal for integers: below 10 becomes up to 9. */
function ofIntegers({ value, open }: Point, side: Side): Point {
  const isRounded = value.isInteger && !open;
  if (side === 'lower') return { value: value.floor(isRounded ? 0n : 1n), open: false };
  return { value: value.floor(value.isInteger && open ? -1n : 0n), open: false };
}

function numbers(all: readonly Schema[], keyword: string): JsonNumber[] {
  return all.map((schema) => ownMember(schema, keyword)).filter((value) => value instanceof JsonNumber);
}

function show(point: Point | null): string | null {
  if (point === null) return null;
  return point.open ? `${String(point.value)} (exclusive)` : String(point.value);
}
