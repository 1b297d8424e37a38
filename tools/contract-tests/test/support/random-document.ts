import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Random } from './random.ts';

const scalars = [
  '1',
  '-1',
  '0',
  '101',
  '2147483648',
  '0.5',
  '"x"',
  '""',
  '"\\u0000"',
  'true',
  'null',
  'ENUM',
  '$v',
  '[]',
  '{}',
];

/** A document that follows the grammar of GraphQL and, mostly, the schema. */
export function randomDocument(random: Random, schema: GraphQLSchema): string {
  const isMutation = random.chance(0.3);
  const root = isMutation ? schema.getMutationType() : schema.getQueryType();
  if (!root) throw new Error('The schema has no such root type.');
  const name = random.chance(0.5) ? ` Q${random.int(3)}` : '';
  const variables = random.chance(0.2) ? '($v: ID)' : '';
  const operation = `${isMutation ? 'mutation' : 'query'}${name}${variables} ${selections(random, root, 1 + random.int(12))}`;
  const more = random.chance(0.15) ? ` query Other { __typename }` : '';
  const fragment = random.chance(0.2) ? ` fragment F on ${root.name} ${selections(random, root, 3)}` : '';
  return operation + more + fragment;
}

function selections(random: Random, type: GraphQLNamedType, depth: number): string {
  if (!isObjectType(type)) return '';
  const fields = Object.values(type.getFields());
  const parts = Array.from({ length: 1 + random.int(4) }, () => {
    if (random.chance(0.05)) return '...F';
    if (random.chance(0.05)) return `... on ${type.name} ${selections(random, type, depth - 1)}`;
    if (random.chance(0.05))
      return random.pick(['unknown', '__typename', '__schema { types { name } }', 'a: __typename']);
    return field(random, random.pick(fields), depth);
  });
  return `{ ${parts.join(' ')} }`;
}

function field(random: Random, { name, args, type }: GraphQLField<unknown, unknown>, depth: number): string {
  const alias = random.chance(0.1) ? `a${random.int(9)}: ` : '';
  const given = args.filter((argument) => isNonNullType(argument.type) || random.chance(0.5));
  const list = given.map((argument) => `${argument.name}: ${value(random, argument.type, 4)}`).join(', ');
  const directive = random.chance(0.1) ? ` @${random.pick(['skip', 'include', 'unknown'])}(if: true)` : '';
  const named = getNamedType(type);
  const inner = depth > 0 && isObjectType(named) ? ` ${selections(random, named, depth - 1)}` : '';
  return `${alias}${name}${list === '' ? '' : `(${list})`}${directive}${inner}`;
}

function value(random: Random, type: GraphQLInputType, depth: number): string {
  if (isNonNullType(type)) return value(random, type.ofType, depth);
  if (depth === 0 || random.chance(0.15)) return random.pick(scalars);
  if (isListType(type))
    return `[${Array.from({ length: random.int(4) }, () => value(random, type.ofType, depth - 1)).join(' ')}]`;
  if (isEnumType(type)) return random.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    const members = Object.values(type.getFields());
    return `{ ${members.map((member) => `${member.name}: ${value(random, member.type, depth - 1)}`).join(', ')} }`;
  }
  return random.pick(scalars);
}
