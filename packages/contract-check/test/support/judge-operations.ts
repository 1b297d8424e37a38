import {
  buildSchema,
  executeSync,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  Kind,
  parse,
  TypeInfo,
  validate,
  validateSchema,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import type { Change } from '../../src/change.ts';
import { compareGraphql } from '../../src/graphql/compare-graphql.ts';
import { change, print, randomModel, randomOperation, type Operation } from './random-graphql.ts';
import { Random } from './random.ts';

/*
 * Compares the verdicts for generated schemas with generated operations. A verdict is too small if it is not major although an
 * operation that was valid becomes invalid, its arguments get other values, or its response is one that types generated from
 * the old schema exclude. A verdict is too large if it is major although no operation broke, which proves nothing: another
 * operation may. Its count is reported by rule.
 */

const operationsPerPair = 10;
const maxListed = 5;

export interface JudgedOperations {
  readonly pairs: number;
  readonly operations: number;
  readonly broken: number;
  /** The shortest cases whose verdict is too small. */
  readonly tooSmall: readonly string[];
  /** For pairs whose major changes have one rule: how many there are, and in how many of them no operation broke. */
  readonly majors: ReadonlyMap<string, { pairs: number; unbroken: number }>;
}

/** How an operation breaks. `closed` only breaks clients that rely on knowing every enum value and type. */
interface Break {
  readonly problem: string;
  readonly closed: boolean;
}

/** @param leastOperations that are valid on their old schema */
export function judgeOperations(firstSeed: number, leastOperations: number): JudgedOperations {
  const majors = new Map<string, { pairs: number; unbroken: number }>();
  const tooSmall: string[] = [];
  let [pairs, operations, broken] = [0, 0, 0];
  for (let seed = firstSeed; operations < leastOperations; seed += 1) {
    const random = new Random(seed);
    const model = randomModel(random);
    const [from, to] = [print(model), print(change(model, random))];
    const [before, after] = [buildSchema(from), buildIfComplete(to)];
    if (after === null || !isServable(before) || !isServable(after)) continue;
    pairs += 1;
    const [open, closed] = [false, true].map((closedOutputs) =>
      compareGraphql({ file: 'from', text: from }, { file: 'to', text: to }, { closedOutputs }),
    );
    let isBroken = false;
    for (let count = 0; count < operationsPerPair; count += 1) {
      const operation = randomOperation(model, random);
      const document = parse(operation.text);
      if (validate(before, document).length > 0 || coerced(before, document, operation) === null) continue;
      operations += 1;
      const found = breakOf(before, after, document, operation, random);
      if (found === null) continue;
      broken += 1;
      isBroken ||= !found.closed;
      const report = found.closed ? closed : open;
      if (report?.verdict !== 'major')
        tooSmall.push(JSON.stringify({ ...found, seed, verdict: report?.verdict, ...operation, from, to }));
    }
    addMajor(majors, open?.changes ?? [], isBroken);
  }
  tooSmall.sort((a, b) => a.length - b.length);
  return { pairs, operations, broken, tooSmall: tooSmall.slice(0, maxListed), majors };
}

/** Whether a schema is valid, and a server can return a value of each type. */
function isServable(schema: GraphQLSchema): boolean {
  const types = Object.values(schema.getTypeMap()).filter(isAbstractType);
  return validateSchema(schema).length === 0 && types.every((type) => schema.getPossibleTypes(type).length > 0);
}

/** Null if the schema uses a type that it does not define. */
function buildIfComplete(sdl: string): GraphQLSchema | null {
  try {
    return buildSchema(sdl);
  } catch {
    return null;
  }
}

function addMajor(
  majors: Map<string, { pairs: number; unbroken: number }>,
  changes: readonly Change[],
  isBroken: boolean,
): void {
  const [rule, ...others] = new Set(changes.filter(({ verdict }) => verdict === 'major').map((each) => each.rule));
  if (rule === undefined || others.length > 0) return;
  const { pairs, unbroken } = majors.get(rule) ?? { pairs: 0, unbroken: 0 };
  majors.set(rule, { pairs: pairs + 1, unbroken: unbroken + (isBroken ? 0 : 1) });
}

function breakOf(
  before: GraphQLSchema,
  after: GraphQLSchema,
  document: DocumentNode,
  operation: Operation,
  random: Random,
): Break | null {
  const [error] = validate(after, document);
  if (error !== undefined) return { problem: error.message, closed: false };
  const [old, now] = [coerced(before, document, operation), coerced(after, document, operation)];
  const differing = old?.findIndex((values, index) => !contains(now?.[index], values)) ?? -1;
  if (differing !== -1)
    return {
      problem: `${JSON.stringify(old?.[differing])} becomes ${JSON.stringify(now?.[differing])}`,
      closed: false,
    };
  const { data, errors } = respond(after, document, operation, random);
  if (errors !== undefined) return { problem: errors.join(' '), closed: false };
  const [definition] = document.definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new Error('The document has no operation.');
  return excludedIn(before, before.getQueryType() ?? undefined, [definition.selectionSet], data);
}

/** The arguments of each field of the document, as a server coerces them. Null if it rejects a value. */
function coerced(schema: GraphQLSchema, document: DocumentNode, { variables }: Operation): unknown[] | null {
  const [definition] = document.definitions;
  const definitions = definition?.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [];
  const { variableValues } = getVariableValues(schema, definitions, variables);
  if (variableValues === undefined) return null;
  const found: unknown[] = [];
  const types = new TypeInfo(schema);
  try {
    visit(
      document,
      visitWithTypeInfo(types, {
        Field(node) {
          const field = types.getFieldDef();
          found.push(field === null || field === undefined ? {} : getArgumentValues(field, node, variableValues));
        },
      }),
    );
  } catch {
    return null;
  }
  return found;
}

/** Whether a value equals the old one, except for members of objects that the old one lacks. */
function contains(value: unknown, old: unknown): boolean {
  if (typeof old !== 'object' || old === null) return value === old;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(old)) return false;
  if (Array.isArray(old) && Array.isArray(value) && old.length !== value.length) return false;
  const members = new Map(Object.entries(value));
  return Object.entries(old).every(([name, each]) => contains(members.get(name), each));
}

/** A response of a server that returns any value that its schema allows. */
function respond(schema: GraphQLSchema, document: DocumentNode, { variables }: Operation, random: Random) {
  return executeSync({
    schema,
    document,
    variableValues: variables,
    fieldResolver: (_source, _args, _context, { returnType }) => randomOutput(schema, returnType, random),
    typeResolver: (value: { type: string }) => value.type,
  });
}

function randomOutput(schema: GraphQLSchema, type: GraphQLOutputType, random: Random): unknown {
  if (isNonNullType(type)) return randomItem(schema, type.ofType, random);
  return random.oneIn(4) ? null : randomItem(schema, type, random);
}

function randomItem(schema: GraphQLSchema, type: GraphQLOutputType, random: Random): unknown {
  if (isListType(type)) return random.list(0, 2, () => randomOutput(schema, type.ofType, random));
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues()[random.below(named.getValues().length)]?.value;
  if (!isCompositeType(named)) return named.name === 'Int' ? random.below(3) : 'text';
  const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  const chosen = possible[random.below(possible.length)];
  return chosen === undefined ? null : { type: chosen.name };
}

/** What types generated from the old schema exclude in a value of a named type. Null if they allow it. */
function excludedIn(
  schema: GraphQLSchema,
  type: GraphQLNamedType | undefined,
  selections: readonly SelectionSetNode[],
  value: unknown,
): Break | null {
  if (isEnumType(type)) {
    const isKnown = type.getValues().some(({ name }) => name === value);
    return isKnown ? null : { problem: `${String(value)} is no value of ${type.name}`, closed: true };
  }
  if (!isCompositeType(type)) {
    const expected = type?.name === 'Int' ? 'number' : 'string';
    return typeof value === expected
      ? null
      : { problem: `${JSON.stringify(value)} is no ${type?.name}`, closed: false };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: `no object: ${JSON.stringify(value)}`, closed: false };
  const members = new Map(Object.entries(value));
  const runtime = members.has('__typename') ? schema.getType(String(members.get('__typename'))) : type;
  const possible = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  if (!possible.some((each) => each === runtime))
    return { problem: `${String(members.get('__typename'))} is no ${type.name}`, closed: true };
  const fields = Map.groupBy(fieldsOf(schema, runtime, selections), ({ node }) => node.name.value);
  for (const [name, nodes] of fields) {
    const [first] = nodes;
    if (first === undefined || name === '__typename') continue;
    const inner = nodes.flatMap(({ node }) => node.selectionSet ?? []);
    if (!members.has(name)) return { problem: `${name} is absent`, closed: false };
    const found = excludedBy(schema, first.type, inner, members.get(name));
    if (found !== null) return found;
  }
  return null;
}

function excludedBy(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  value: unknown,
): Break | null {
  if (isNonNullType(type))
    return value === null
      ? { problem: `null for ${String(type)}`, closed: false }
      : excludedBy(schema, type.ofType, selections, value);
  if (value === null) return null;
  if (!isListType(type)) return excludedIn(schema, type, selections, value);
  if (!Array.isArray(value)) return { problem: `no list: ${JSON.stringify(value)}`, closed: false };
  for (const item of value) {
    const found = excludedBy(schema, type.ofType, selections, item);
    if (found !== null) return found;
  }
  return null;
}

interface SelectedField {
  readonly node: FieldNode;
  readonly type: GraphQLOutputType;
}

/** The fields that a client of the old schema expects in an object of a type. */
function fieldsOf(
  schema: GraphQLSchema,
  runtime: GraphQLNamedType | undefined,
  selections: readonly SelectionSetNode[],
): SelectedField[] {
  return selections
    .flatMap((set) => set.selections)
    .flatMap((selection): SelectedField[] => {
      if (selection.kind === Kind.FIELD) {
        const fields = runtime !== undefined && 'getFields' in runtime ? runtime.getFields() : {};
        const field = fields[selection.name.value];
        return field !== undefined && 'args' in field ? [{ node: selection, type: field.type }] : [];
      }
      if (selection.kind !== Kind.INLINE_FRAGMENT) return [];
      const on = schema.getType(selection.typeCondition?.name.value ?? '');
      const isApplied =
        on === runtime || (isAbstractType(on) && schema.getPossibleTypes(on).some((each) => each === runtime));
      return isApplied ? fieldsOf(schema, runtime, [selection.selectionSet]) : [];
    });
}
