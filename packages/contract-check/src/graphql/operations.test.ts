import * as fc from 'fast-check';
import { buildSchema, type GraphQLSchema, parse, validate, validateSchema } from 'graphql';
import { expect, test } from 'vitest';
import { Random } from '../../test/support/random.ts';
import { compareGraphql } from './compare-graphql.ts';

// The oracle of the verdicts for outputs: under a verdict that is not major, each valid operation stays valid. Operations have
// no aliases (see docs/verdicts.md).

const seeds = 300;
const operationsPerPair = 10;

interface Model {
  /** Types by field, by name of an object type or interface. */
  readonly fields: Map<string, Map<string, string>>;
  /** The interface of an object type. */
  readonly implemented: ReadonlyMap<string, string>;
  readonly unions: ReadonlyMap<string, string[]>;
}

const objects: [string, ...string[]] = ['A', 'B', 'C', 'D'];
const interfaces: [string, ...string[]] = ['I', 'J'];
const composites: [string, ...string[]] = [...objects, ...interfaces, 'U', 'V'];
const fieldNames = ['a', 'b', 'c'];

function randomModel(random: Random): Model {
  const fields = new Map<string, Map<string, string>>();
  const implemented = new Map<string, string>();
  const randomType = (): string => {
    const name = random.oneIn(2) ? random.of(['Int', 'String']) : random.of(composites);
    const wrapped = random.oneIn(4) ? `[${name}${random.oneIn(3) ? '!' : ''}]` : name;
    return random.oneIn(4) ? `${wrapped}!` : wrapped;
  };
  const randomFields = (): Map<string, string> => {
    const chosen = fieldNames.filter(() => !random.oneIn(3));
    return new Map(['id', ...chosen].map((name) => [name, name === 'id' ? 'Int' : randomType()]));
  };
  for (const name of [...interfaces, 'Query']) fields.set(name, randomFields());
  for (const name of objects) {
    const own = randomFields();
    if (!random.oneIn(3)) {
      const of = random.of(interfaces);
      implemented.set(name, of);
      for (const [field, type] of fields.get(of) ?? []) own.set(field, type);
    }
    fields.set(name, own);
  }
  for (const name of composites) fields.get('Query')?.set(`get${name}`, name);
  const unions = new Map(['U', 'V'].map((name) => [name, ['A', random.of(['B', 'C', 'D'])]]));
  return { fields, implemented, unions };
}

function print({ fields, implemented, unions }: Model): string {
  const types = [...fields].map(([name, own]) => {
    const of = implemented.get(name);
    const head = interfaces.includes(name)
      ? `interface ${name}`
      : `type ${name}${of === undefined ? '' : ` implements ${of}`}`;
    return `${head} { ${[...own].map(([field, type]) => `${field}: ${type}`).join(' ')} }`;
  });
  return [...types, ...[...unions].map(([name, members]) => `union ${name} = ${members.join(' | ')}`)].join('\n');
}

/** The model with one to three fields that are stricter, looser, gone or new. */
function change(model: Model, random: Random): Model {
  const fields = new Map([...model.fields].map(([name, own]) => [name, new Map(own)]));
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const own = fields.get(random.of([...objects, ...interfaces]));
    const [first, ...others] = own ?? [];
    if (own === undefined || first === undefined) continue;
    const [field, type] = random.of([first, ...others]);
    const kind = random.below(8);
    if (field === 'id') continue;
    if (kind === 0) own.delete(field);
    else if (kind === 1) own.set('d', 'Int');
    else if (kind === 2) own.set(field, type.replace(/!$/, ''));
    else if (type.startsWith('[') && random.oneIn(2)) own.set(field, type.replace(/!?\]/, '!]'));
    else own.set(field, type.replace(/!?$/, '!'));
  }
  return { ...model, fields };
}

function isValid(schema: GraphQLSchema): boolean {
  return validateSchema(schema).length === 0;
}

/** The object types that a value of a type can have. */
function possibleTypes({ implemented, unions }: Model, name: string): readonly string[] {
  if (interfaces.includes(name)) return objects.filter((object) => implemented.get(object) === name);
  return unions.get(name) ?? [name];
}

/** Fragments only where they can apply. Fields of one name can still conflict. */
function randomOperation(model: Model, random: Random): string {
  const select = (typeName: string, depth: number): string => {
    const [first, ...rest] = model.fields.get(typeName) ?? [];
    const possible = possibleTypes(model, typeName);
    const parts: string[] = ['__typename'];
    for (let count = 1 + random.below(3); count > 0; count -= 1) {
      if (depth > 0 && random.oneIn(2)) {
        const others = composites.filter((name) => possibleTypes(model, name).some((each) => possible.includes(each)));
        const on = random.of([typeName, ...others]);
        parts.push(`... on ${on} { ${select(on, depth - 1)} }`);
      } else if (first !== undefined) {
        const [field, type] = random.of([first, ...rest]);
        const name = type.replaceAll(/[[\]!]/g, '');
        if (name === 'Int' || name === 'String') parts.push(field);
        else if (depth > 0) parts.push(`${field} { ${select(name, depth - 1)} }`);
      }
    }
    return parts.join(' ');
  };
  const name = random.of(composites);
  return `{ get${name} { ${select(name, 4)} } }`;
}

test('an operation that is valid stays valid, unless the verdict is major', () => {
  let pairs = 0;
  let operations = 0;
  let broken = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = new Random(seed);
      const model = randomModel(random);
      const [from, to] = [print(model), print(change(model, random))];
      const [before, after] = [buildSchema(from), buildSchema(to)];
      if (!isValid(before) || !isValid(after)) return;
      pairs += 1;
      const { verdict } = compareGraphql({ file: 'from', text: from }, { file: 'to', text: to });
      for (let count = 0; count < operationsPerPair; count += 1) {
        const operation = randomOperation(model, random);
        const document = parse(operation);
        if (validate(before, document).length > 0) continue;
        operations += 1;
        const [error] = validate(after, document);
        if (error === undefined) continue;
        broken += 1;
        expect({ verdict, operation, error: error.message, from, to }).toMatchObject({ verdict: 'major' });
      }
    }),
    { numRuns: seeds },
  );
  // The test is worth nothing if it tries little.
  expect(pairs).toBeGreaterThan(seeds / 10);
  expect(operations).toBeGreaterThan(seeds);
  expect(broken).toBeGreaterThan(seeds / 100);
});
