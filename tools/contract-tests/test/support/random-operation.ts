import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Random } from './random.ts';

export interface RandomOperation {
  query: string;
  variables: Record<string, unknown>;
  operationName: string;
}

/** Values for the required arguments, by coordinate: `Query.referral(id:)`. */
export type ArgumentValues = Readonly<Record<string, unknown>>;

const pageSizes = [1, 2, 5, 10, 20, 40, 60, 99, 100, 101, -1, null];

/**
 * An operation that is valid for the schema and asks for much: pages of all sizes, aliases, fragments that are spread several
 * times, conditions, repeated fields, introspection and a second operation.
 */
export function randomOperation(random: Random, schema: GraphQLSchema, values: ArgumentValues): RandomOperation {
  const mutation = schema.getMutationType();
  const isMutation = mutation && random.chance(0.1);
  const root = isMutation ? mutation : schema.getQueryType();
  if (!root) throw new Error('The schema has no query type.');
  const state: State = {
    random,
    schema,
    values,
    names: 0,
    aliases: 6 + random.int(24),
    declared: [],
    variables: {},
    fragments: [],
  };
  const selections = isMutation
    ? `{ ${field(state, root, random.pick(Object.values(root.getFields())), 6)} }`
    : selectionSet(state, root, 2 + random.int(6), 1 + random.int(6));
  const declared = state.declared.length === 0 ? '' : `(${state.declared.join(', ')})`;
  const other = random.chance(0.1) ? ` query Other { __typename ${'__typename '.repeat(random.int(300))} }` : '';
  const query = `${isMutation ? 'mutation' : 'query'} Main${declared} ${selections}${other} ${state.fragments.map(({ text }) => text).join(' ')}`;
  return { query, variables: state.variables, operationName: 'Main' };
}

interface State {
  random: Random;
  schema: GraphQLSchema;
  values: ArgumentValues;
  /** Numbers the aliases, variables and fragments. */
  names: number;
  /** The aliases that are left. */
  aliases: number;
  declared: string[];
  variables: Record<string, unknown>;
  fragments: { name: string; type: string; text: string }[];
}

function selectionSet(state: State, type: GraphQLObjectType, depth: number, width: number): string {
  const { random } = state;
  const fields = Object.values(type.getFields()).filter(
    ({ type: output }) => depth > 0 || !isObjectType(getNamedType(output)),
  );
  if (fields.length === 0) return '{ __typename }';
  const all = random.chance(0.3) ? fields.filter(({ type: output }) => !isObjectType(getNamedType(output))) : [];
  const chosen = [...all, ...Array.from({ length: width }, () => random.pick(fields))];
  const parts = chosen.map((one) => {
    if (random.chance(0.06)) return spread(state, type, depth);
    if (random.chance(0.05)) return `... on ${type.name}${condition(state)} ${selectionSet(state, type, depth - 1, 2)}`;
    if (type === state.schema.getQueryType() && random.chance(0.04)) return introspection(state);
    return field(state, type, one, depth);
  });
  return `{ __typename ${parts.join(' ')} }`;
}

function field(state: State, parent: GraphQLObjectType, one: GraphQLField<unknown, unknown>, depth: number): string {
  const { random } = state;
  // A field with arguments needs its own response name, or it could conflict with another one.
  const needsAlias = one.args.length > 0 && (one.args.some(({ type }) => isNonNullType(type)) || random.chance(0.9));
  if (needsAlias && state.aliases === 0) return '__typename';
  const given = needsAlias ? argumentsOf(state, parent, one) : '';
  const mayAlias = needsAlias || (state.aliases > 0 && random.chance(0.15));
  if (mayAlias) state.aliases -= 1;
  const alias = mayAlias ? `${nextName(state, random.chance(0.03) ? 'long'.repeat(random.int(300) + 1) : 'a')}: ` : '';
  const named = getNamedType(one.type);
  const inner = isObjectType(named) ? ` ${selectionSet(state, named, depth - 1, 1 + random.int(4))}` : '';
  return `${alias}${one.name}${given}${condition(state)}${inner}`;
}

function argumentsOf(state: State, parent: GraphQLObjectType, { name, args }: GraphQLField<unknown, unknown>): string {
  const { random } = state;
  const texts = args.flatMap((argument) => {
    if (argument.name === 'first' || argument.name === 'hours') {
      if (random.chance(0.2)) return [];
      return [`${argument.name}: ${random.chance(0.4) ? variable(state, 'Int', pageSizes) : random.pick(pageSizes)}`];
    }
    if (!isNonNullType(argument.type)) return [];
    const value = state.values[`${parent.name}.${name}(${argument.name}:)`];
    if (value === undefined) throw new Error(`There is no value for ${parent.name}.${name}(${argument.name}:).`);
    return [`${argument.name}: ${variable(state, String(argument.type), [value])}`];
  });
  return texts.length === 0 ? '' : `(${texts.join(', ')})`;
}

function variable(state: State, type: string, choices: readonly unknown[]): string {
  const { random, variables, declared } = state;
  const name = nextName(state, 'v');
  const hasDefault = type === 'Int' && random.chance(0.3);
  declared.push(`$${name}: ${type}${hasDefault ? ` = ${random.pick(pageSizes)}` : ''}`);
  if (type !== 'Int' || random.chance(0.8)) variables[name] = random.pick(choices);
  return `$${name}`;
}

function condition(state: State): string {
  const { random } = state;
  if (!random.chance(0.04)) return '';
  const value = random.chance(0.5) ? variable(state, 'Boolean!', [true, false]) : String(random.chance(0.5));
  return ` @${random.pick(['skip', 'include'])}(if: ${value})`;
}

function spread(state: State, type: GraphQLObjectType, depth: number): string {
  const { random, fragments } = state;
  const known = fragments.filter((fragment) => fragment.type === type.name);
  if (known.length > 0 && random.chance(0.6)) return `...${random.pick(known).name}`;
  const name = nextName(state, 'F');
  const text = `fragment ${name} on ${type.name} ${selectionSet(state, type, Math.min(depth - 1, 3), 3)}`;
  fragments.push({ name, type: type.name, text });
  return `...${name}`;
}

function introspection(state: State): string {
  const { random, schema } = state;
  const type = random.pick(Object.keys(schema.getTypeMap()));
  const fields = '{ name description args { name description type { name ofType { name } } } }';
  return random.pick([
    `__schema { types { __typename name description fields ${fields} } }`,
    `__schema { types { __typename name fields { name type { name fields { name } } } } }`,
    `${nextName(state, 't')}: __type(name: "${type}") { __typename name fields ${fields} enumValues { name description } }`,
  ]);
}

function nextName(state: State, prefix: string): string {
  state.names += 1;
  return `${prefix}${state.names}`;
}
