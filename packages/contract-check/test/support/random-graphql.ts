import type { Random } from './random.ts';

/** A schema that `print` prints. */
export interface Model {
  /** Fields by name of an object type or interface. */
  readonly fields: Map<string, Map<string, Field>>;
  /** The interfaces of an object type. */
  readonly implemented: Map<string, string[]>;
  readonly unions: Map<string, string[]>;
  readonly enums: Map<string, string[]>;
  /** Fields by name of an input object. */
  readonly inputs: Map<string, Map<string, Input>>;
}

interface Field {
  readonly type: string;
  readonly args: Map<string, Input>;
}

/** An argument, or a field of an input object. */
interface Input {
  readonly type: string;
  /** A literal. Null if there is no default. */
  readonly byDefault: string | null;
}

const objects: [string, ...string[]] = ['A', 'B', 'C', 'D'];
const interfaces: [string, ...string[]] = ['I', 'J'];
const composites: [string, ...string[]] = [...objects, ...interfaces, 'U', 'V'];
const fieldNames = ['a', 'b', 'c'];
const enumValues: [string, ...string[]] = ['X', 'Y', 'Z'];
/** `E` is input and output, `F` only output, `G` only input. */
const outputLeaves: [string, ...string[]] = ['Int', 'String', 'E', 'F'];
const inputLeaves: [string, ...string[]] = ['Int', 'String', 'E', 'G'];

/** The type without lists and `!`. */
export function named(type: string): string {
  return type.replaceAll(/[[\]!]/g, '');
}

function wrapped(random: Random, name: string): string {
  const list = random.oneIn(4) ? `[${name}${random.oneIn(3) ? '!' : ''}]` : name;
  return random.oneIn(4) ? `${list}!` : list;
}

export function randomModel(random: Random): Model {
  const enums = new Map(['E', 'F', 'G'].map((name) => [name, ['W', ...enumValues.filter(() => random.oneIn(2))]]));
  const inputs = new Map([['N', new Map(['p', 'q'].map((name) => [name, randomInput(random, inputLeaves)]))]]);
  const model: Model = { fields: new Map(), implemented: new Map(), unions: new Map(), enums, inputs };
  for (const name of [...interfaces, 'Query']) model.fields.set(name, randomFields(random));
  for (const name of objects) {
    const own = randomFields(random);
    const implemented = interfaces.filter(() => random.oneIn(2));
    for (const each of implemented) for (const [field, type] of model.fields.get(each) ?? []) own.set(field, type);
    model.implemented.set(name, implemented);
    model.fields.set(name, own);
  }
  for (const name of composites) model.fields.get('Query')?.set(`get${name}`, { type: name, args: new Map() });
  for (const name of ['U', 'V']) model.unions.set(name, ['A', random.of(['B', 'C', 'D'])]);
  return model;
}

function randomFields(random: Random): Map<string, Field> {
  const chosen = fieldNames.filter(() => !random.oneIn(3));
  const fields = new Map(chosen.map((name) => [name, randomField(random)]));
  return fields.set('id', { type: 'Int', args: new Map() });
}

function randomField(random: Random): Field {
  const type = wrapped(random, random.of(random.oneIn(2) ? outputLeaves : composites));
  const args = random.oneIn(3) ? [['x', randomInput(random, [...inputLeaves, 'N'])] as const] : [];
  return { type, args: new Map(args) };
}

function randomInput(random: Random, names: readonly [string, ...string[]]): Input {
  const type = wrapped(random, random.of(names));
  return { type, byDefault: random.oneIn(4) ? randomDefault(random, type) : null };
}

/** Not for input objects, whose fields change. */
function randomDefault(random: Random, type: string): string | null {
  if (named(type) === 'N') return null;
  if (!type.endsWith('!') && random.oneIn(4)) return 'null';
  const value = { Int: String(random.below(3)), String: `"${random.below(3)}"` }[named(type)] ?? 'W';
  return type.startsWith('[') ? `[${value}]` : value;
}

function printInput(name: string, { type, byDefault }: Input): string {
  return `${name}: ${type}${byDefault === null ? '' : ` = ${byDefault}`}`;
}

function printArgs(args: ReadonlyMap<string, Input>): string {
  if (args.size === 0) return '';
  return `(${Array.from(args, ([name, input]) => printInput(name, input)).join(', ')})`;
}

export function print({ fields, implemented, unions, enums, inputs }: Model): string {
  const types = Array.from(fields, ([name, own]) => {
    const of = implemented.get(name) ?? [];
    const head = `${interfaces.includes(name) ? 'interface' : 'type'} ${name}${of.length === 0 ? '' : ` implements ${of.join(' & ')}`}`;
    return `${head} { ${Array.from(own, ([field, { type, args }]) => `${field}${printArgs(args)}: ${type}`).join(' ')} }`;
  });
  return [
    ...types,
    ...Array.from(unions, ([name, members]) => `union ${name} = ${members.join(' | ')}`),
    ...Array.from(enums, ([name, values]) => `enum ${name} { ${values.join(' ')} }`),
    ...Array.from(
      inputs,
      ([name, own]) => `input ${name} { ${Array.from(own, ([field, input]) => printInput(field, input)).join(' ')} }`,
    ),
  ].join('\n');
}

/** The schema with one to three changes. It can be invalid. */
export function change(model: Model, random: Random): Model {
  const changed: Model = {
    fields: new Map(Array.from(model.fields, ([name, own]) => [name, new Map(own)])),
    implemented: new Map(model.implemented),
    unions: new Map(model.unions),
    enums: new Map(model.enums),
    inputs: new Map(Array.from(model.inputs, ([name, own]) => [name, new Map(own)])),
  };
  for (let count = 1 + random.below(3); count > 0; count -= 1) changeOnce(changed, random);
  return changed;
}

function changeOnce({ fields, implemented, unions, enums, inputs }: Model, random: Random): void {
  const owner = random.of([...objects, ...interfaces]);
  const own = fields.get(owner) ?? new Map<string, Field>();
  const field = random.of(['a', 'b', 'c']);
  const old = own.get(field);
  switch (random.below(12)) {
    case 0:
      own.delete(field);
      return;
    case 1:
      own.set('d', randomField(random));
      return;
    case 2:
      changeList(unions, random.of(['U', 'V']), objects, random);
      return;
    case 3:
      changeList(enums, random.of(['E', 'F', 'G']), enumValues, random);
      return;
    case 4:
      changeList(implemented, random.of(objects), interfaces, random);
      return;
    case 5:
      changeInputs(inputs.get('N') ?? new Map<string, Input>(), ['p', 'q', 'r'], inputLeaves, random);
      return;
    case 6:
    case 7: {
      const args = new Map(old?.args);
      changeInputs(args, ['x', 'y'], [...inputLeaves, 'N'], random);
      if (old !== undefined) own.set(field, { ...old, args });
      return;
    }
    case 8:
      if (old !== undefined) own.set(field, { ...old, type: randomField(random).type });
      return;
    default:
      if (old !== undefined) own.set(field, { ...old, type: otherNullability(old.type, random) });
  }
}

function changeList(
  lists: Map<string, string[]>,
  name: string,
  all: readonly [string, ...string[]],
  random: Random,
): void {
  const list = lists.get(name) ?? [];
  const each = random.of(all);
  lists.set(name, list.includes(each) ? list.filter((other) => other !== each) : [...list, each]);
}

function changeInputs(
  own: Map<string, Input>,
  names: readonly [string, ...string[]],
  types: readonly [string, ...string[]],
  random: Random,
): void {
  const name = random.of(names);
  const old = own.get(name);
  if (old === undefined) own.set(name, randomInput(random, types));
  else if (random.oneIn(4)) own.delete(name);
  else if (random.oneIn(3))
    own.set(name, { ...old, byDefault: random.oneIn(2) ? null : randomDefault(random, old.type) });
  else own.set(name, { ...old, type: otherNullability(old.type, random) });
}

function otherNullability(type: string, random: Random): string {
  if (type.startsWith('[') && random.oneIn(2))
    return type.includes('!]') ? type.replace('!]', ']') : type.replace(']', '!]');
  return type.endsWith('!') ? type.slice(0, -1) : `${type}!`;
}

/** An operation with the values of its variables. */
export interface Operation {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * An operation on the schema. Fragments are where they can apply, but fields of one name can still conflict. It has no
 * aliases: see docs/verdicts.md.
 */
export function randomOperation(model: Model, random: Random): Operation {
  const declared: string[] = [];
  const variables: Record<string, unknown> = {};

  function argument(name: string, { type, byDefault }: Input): string[] {
    if ((!type.endsWith('!') || byDefault !== null) && random.oneIn(3)) return [];
    if (random.oneIn(2)) return [`${name}: ${literal(randomInputValue(model, random, type))}`];
    const variable = `v${declared.length}`;
    // A nullable variable may have a default, and a variable may be stricter than the argument.
    const ownType = type.endsWith('!') || random.oneIn(3) ? `${type.replace(/!$/, '')}!` : type;
    declared.push(`$${variable}: ${ownType}`);
    if (ownType.endsWith('!') || !random.oneIn(3))
      variables[variable] = plain(randomInputValue(model, random, ownType));
    return [`${name}: $${variable}`];
  }

  function select(typeName: string, depth: number): string {
    const [first, ...rest] = model.fields.get(typeName) ?? [];
    const possible = possibleTypes(model, typeName);
    const parts: string[] = ['__typename'];
    for (let count = 1 + random.below(3); count > 0; count -= 1) {
      if (depth > 0 && random.oneIn(2)) {
        const others = composites.filter((name) => possibleTypes(model, name).some((each) => possible.includes(each)));
        const on = random.of([typeName, ...others]);
        parts.push(`... on ${on} { ${select(on, depth - 1)} }`);
      } else if (first !== undefined) {
        const [name, { type, args }] = random.of([first, ...rest]);
        const passed = Array.from(args, ([each, input]) => argument(each, input)).flat();
        const called = passed.length === 0 ? name : `${name}(${passed.join(', ')})`;
        if (outputLeaves.includes(named(type))) parts.push(called);
        else if (depth > 0) parts.push(`${called} { ${select(named(type), depth - 1)} }`);
      }
    }
    return parts.join(' ');
  }

  const name = random.of(composites);
  const selected = `get${name} { ${select(name, 4)} }`;
  return { text: `query${declared.length === 0 ? '' : `(${declared.join(', ')})`} { ${selected} }`, variables };
}

/** The object types that a value of a type can have. */
function possibleTypes({ implemented, unions }: Model, name: string): readonly string[] {
  if (interfaces.includes(name)) return objects.filter((object) => implemented.get(object)?.includes(name));
  return unions.get(name) ?? [name];
}

type InputValue = null | number | string | EnumValue | InputValue[] | { readonly [name: string]: InputValue };

class EnumValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

function randomInputValue(model: Model, random: Random, type: string): InputValue {
  if (type.endsWith('!')) return randomItem(type.slice(0, -1));
  return random.oneIn(5) ? null : randomItem(type);

  function randomItem(nullable: string): InputValue {
    if (nullable.startsWith('['))
      return random.list(0, 2, () => randomInputValue(model, random, nullable.slice(1, -1)));
    if (nullable === 'Int') return random.below(3);
    if (nullable === 'String') return String(random.below(3));
    const fields = model.inputs.get(nullable);
    if (fields === undefined) return new EnumValue(random.of(['W', ...(model.enums.get(nullable) ?? [])]));
    const passed = [...fields].filter(
      ([, input]) => (input.type.endsWith('!') && input.byDefault === null) || random.oneIn(2),
    );
    return Object.fromEntries(passed.map(([name, input]) => [name, randomInputValue(model, random, input.type)]));
  }
}

function literal(value: InputValue): string {
  if (value instanceof EnumValue) return value.name;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${name}: ${literal(each)}`)
    .join(', ')} }`;
}

/** The value of a variable. */
function plain(value: InputValue): unknown {
  if (value instanceof EnumValue) return value.name;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
