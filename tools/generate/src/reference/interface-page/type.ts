import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { code, oneLine, table } from '../markdown.ts';
import { described } from './described.ts';
import { inputTable } from './input-table.ts';
import { typeLink } from './type-link.ts';

/** True if the page has a section for the type. */
export function isDescribed(schema: GraphQLSchema, type: GraphQLNamedType): boolean {
  const isRoot = type === schema.getQueryType() || type === schema.getMutationType();
  return !isRoot && !isIntrospectionType(type) && !isSpecifiedScalarType(type);
}

/** @throws {Error} if the reference does not support the kind of type */
export function describeType(type: GraphQLNamedType): string[] {
  const { kind, blocks } = membersOf(type);
  return [`### ${type.name}`, `${kind}. ${oneLine(type.description ?? '')}`, ...blocks];
}

function membersOf(type: GraphQLNamedType): { kind: string; blocks: string[] } {
  if (isObjectType(type)) {
    const interfaces = type.getInterfaces().map(({ name }) => code(name));
    const kind = interfaces.length === 0 ? 'Object' : `Object, implements ${interfaces.join(', ')}`;
    return { kind, blocks: fieldBlocks(type) };
  }
  if (isInterfaceType(type)) return { kind: 'Interface', blocks: fieldBlocks(type) };
  if (isScalarType(type)) return { kind: 'Scalar', blocks: [] };
  if (isEnumType(type)) {
    const rows = type.getValues().map((value) => [code(value.name), described(value)]);
    return { kind: 'Enum', blocks: [table(['value', 'meaning'], rows)] };
  }
  if (isInputObjectType(type)) {
    return { kind: 'Input', blocks: [inputTable('field', Object.values(type.getFields()))] };
  }
  throw new Error(`The reference does not support the kind of type ${type.name}.`);
}

function fieldBlocks(type: GraphQLObjectType | GraphQLInterfaceType): string[] {
  const fields = Object.values(type.getFields());
  const rows = fields.map((field) => [code(field.name), typeLink(field.type), described(field)]);
  const withArguments = fields.filter(({ args }) => args.length > 0);
  return [
    table(['field', 'type', 'description'], rows),
    ...withArguments.flatMap(({ name, args }) => [`Arguments of ${code(name)}:`, inputTable('argument', args)]),
  ];
}
