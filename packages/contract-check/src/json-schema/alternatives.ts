import { canonicalJson, ownMember, type JsonValue } from '../json/json-value.ts';
import { conjunctionOf, keywordValues, listMember, type Choice } from './conjunction.ts';
import { isDocumentation } from './keywords.ts';
import { never, schemas, type Schema, type SchemaDocument } from './schema-document.ts';
import { resolveUnevaluated } from './unevaluated.ts';
import { typeKeyword, typesOf, valueSetOf, type InstanceType } from './value-set.ts';

/** One way for a value to be valid: a type, and schemas that must all match. They contain no references or combinations. */
export interface Alternative {
  readonly type: InstanceType;
  readonly schemas: readonly Schema[];
  /** Those in which `unevaluatedProperties` or `unevaluatedItems` depends on a condition. */
  readonly unresolved: readonly Schema[];
}

export type Alternatives = ReturnType<typeof alternativesOf>;

type Branches = Choice['branches'];

/**
 * Every way for a value other than null to be valid. Schemas that differ only in `$ref`, in `allOf`, or in the notation
 * of null or of unions of bare types or values have the same alternatives.
 */
export function alternativesOf(document: SchemaDocument, start: readonly Schema[]) {
  const list: Alternative[] = [];
  /** The types and values that several branches of a `oneOf` list, and that are therefore invalid. */
  const repeated: string[] = [];
  /** Whether a value that matches several alternatives can be invalid (`oneOf`). */
  let exclusive = false;

  /** `around` maps each choice seen so far to the choices in whose branches it is nested. */
  function expand(
    all: readonly Schema[],
    decided: ReadonlySet<Branches>,
    around: ReadonlyMap<Branches, Branches[]>,
  ): void {
    const conjunction = conjunctionOf(document, all);
    const open = conjunction.choices.find(({ branches }) => !decided.has(branches));
    if (open === undefined) {
      add(conjunction.schemas);
      return;
    }
    const outer = [...(around.get(open.branches) ?? []), open.branches];
    const { branches, repeated: own } = simplified(open);
    if (open.exclusive) {
      exclusive ||= branches.length > 1;
      for (const each of own) repeated.push(each);
    }
    for (const branch of branches) {
      const inner = conjunctionOf(document, branch).choices.map((choice) => choice.branches);
      // A branch that refers back to its own choice adds no alternative to its siblings.
      if (inner.some((each) => outer.includes(each))) continue;
      const nextAround = new Map([...inner.map((each) => [each, outer] as const), ...around]);
      expand([...conjunction.schemas, ...branch], new Set([...decided, open.branches]), nextAround);
    }
  }

  function add(all: readonly Schema[]): void {
    for (const type of typesOf(all)) {
      if (isPossible(all, type)) list.push({ type, ...resolveUnevaluated(document, all, type) });
    }
  }

  expand(start, new Set(), new Map());
  return { list, exclusive, repeated };
}

export function isPossible(all: readonly Schema[], type: InstanceType): boolean {
  return !all.includes(never) && valueSetOf(all, type)?.values.size !== 0;
}

const simplifiedBranches = new WeakMap<Branches, ReturnType<typeof simplify>>();

function simplified({ branches }: Choice): ReturnType<typeof simplify> {
  // Schemas are compared by identity, so the same list must return the same schemas.
  const result = simplifiedBranches.get(branches) ?? simplify(branches);
  simplifiedBranches.set(branches, result);
  return result;
}

/**
 * Removes the branches that allow only null. Merges branches that are all bare types into one `type`, and branches that
 * are all lists of values into one `enum`: `repeated` are the types and values that several of them list.
 */
function simplify(branches: Branches) {
  const proper = branches.map(schemas).filter((branch) => !branch.some(isOnlyNull));
  const single =
    joined(proper, isBareType, 'type', (each) => typeKeyword(each) ?? []) ??
    joined(proper, isBareValues, 'enum', valuesOf);
  return single === null ? { branches: proper, repeated: [] } : { branches: [[single]], repeated: repeatedIn(single) };
}

function joined(
  branches: readonly (readonly Schema[])[],
  fits: (schema: Schema) => boolean,
  keyword: 'type' | 'enum',
  read: (schema: Schema) => readonly JsonValue[],
): Schema | null {
  if (branches.length < 2 || !branches.every((branch) => branch.length === 1 && branch.every(fits))) return null;
  const all = branches.flat();
  const others = new Set(all.flatMap((each) => Object.keys(each)).filter(isDocumentation));
  const documentation = [...others].map((name) => [name, [...keywordValues(all, name)].toSorted()] as const);
  return { ...Object.fromEntries(documentation), [keyword]: all.flatMap(read) };
}

/** What a joined `type` or `enum` lists several times. Every integer is also a number. */
function repeatedIn(single: Schema): string[] {
  const types = listMember(single, 'type');
  const listed = [...types, ...listMember(single, 'enum').map(canonicalJson)];
  const repeated = listed.filter((each, index) => listed.indexOf(each) < index);
  const integers = types.includes('number') && types.includes('integer') ? ['integer'] : [];
  return [...new Set([...repeated, ...integers].map(String))];
}

function isOnlyNull(schema: Schema): boolean {
  const type = typeKeyword(schema);
  if (type !== null) return type.length === 1 && type[0] === 'null';
  if (Object.hasOwn(schema, 'const')) return schema['const'] === null;
  return listMember(schema, 'enum').length === 1 && listMember(schema, 'enum')[0] === null;
}

function isBareType(schema: Schema): boolean {
  return hasOnly(schema, ['type']) && typeKeyword(schema) !== null;
}

function isBareValues(schema: Schema): boolean {
  return (
    hasOnly(schema, ['type', 'const', 'enum']) && (Object.hasOwn(schema, 'const') || Object.hasOwn(schema, 'enum'))
  );
}

function hasOnly(schema: Schema, keywords: readonly string[]): boolean {
  return Object.keys(schema).every((keyword) => keywords.includes(keyword) || isDocumentation(keyword));
}

function valuesOf(schema: Schema): readonly JsonValue[] {
  const value = ownMember(schema, 'const');
  return value === undefined ? listMember(schema, 'enum') : [value];
}
