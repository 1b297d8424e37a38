import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLInputField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  print,
} from 'graphql';
import { anchor, code, link, oneLine, table } from '../markdown.ts';

/** True if the page has a section for the type. */
export function isDescribed(schema: GraphQLSchema, type: GraphQLNamedType): boolean {
  const isRoot = type === schema.getQueryType() || type === schema.getMutationType();
  return !isRoot && !isIntrospectionType(type) && !isSpecifiedScalarType(type);
}

/** @throws {Error} if the reference does not support the kind of type */
export function describeType(type: GraphQLNamedType): string[] {
  const [kind, ...blocks] = membersOf(type);
  return [`### ${type.name}`, `${kind}. ${oneLine(type.description ?? '')}`, ...blocks];
}

function membersOf(type: GraphQLNamedType): [kind: string, ...blocks: string[]] {
  if (isObjectType(type)) {
    const interfaces = type.getInterfaces().map(({ name }) => code(name));
    const kind = interfaces.length === 0 ? 'Object' : `Object, implements ${interfaces.join(', ')}`;
    return [kind, ...fieldBlocks(type)];
  }
  if (isInterfaceType(type)) return ['Interface', ...fieldBlocks(type)];
  if (isScalarType(type)) {
    const { specifiedByURL: url } = type;
    return [typeof url === 'string' ? `Scalar, with ${link('a specification', url)}` : 'Scalar'];
  }
  if (isInputObjectType(type)) return ['Input', inputTable('field', Object.values(type.getFields()))];
  if (isEnumType(type)) {
    const rows = type.getValues().map((value) => [code(value.name), described(value)]);
    return ['Enum', table(['value', 'meaning'], rows)];
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

/** The description of an element, preceded by its deprecation reason. */
function described({ description, deprecationReason }: Pick<GraphQLEnumValue, 'description' | 'deprecationReason'>) {
  return `${deprecationReason ? `**Deprecated:** ${deprecationReason} ` : ''}${description ?? ''}`;
}

/** A type as SDL writes it, linked to its section. */
export function typeLink(type: GraphQLType): string {
  const named = getNamedType(type);
  const text = code(String(type));
  return isSpecifiedScalarType(named) ? text : link(text, anchor(named.name));
}

type InputValue = GraphQLArgument | GraphQLInputField;

/** The arguments of a field or the fields of an input type. Empty if there are none. */
export function inputTable(noun: 'argument' | 'field', values: readonly InputValue[]): string {
  if (values.length === 0) return '';
  const hasDefaults = values.some((value) => defaultOf(value) !== '');
  return table(
    [noun, 'type', ...(hasDefaults ? ['default'] : []), 'description'],
    values.map((value) => [
      code(value.name),
      typeLink(value.type),
      ...(hasDefaults ? [defaultOf(value)] : []),
      described(value),
    ]),
  );
}

function defaultOf({ astNode }: InputValue): string {
  return astNode?.defaultValue === undefined ? '' : code(print(astNode.defaultValue));
}
