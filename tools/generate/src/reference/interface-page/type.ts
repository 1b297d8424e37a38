import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLInputField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  print,
} from 'graphql';
import { code, link, oneLine, table } from '../markdown.ts';

/** The target of a link from a page to the section of a type. */
export type TargetOf = (type: GraphQLNamedType) => string;

/** @throws {Error} if the reference does not support the kind of type */
export function describeType(type: GraphQLNamedType, targetOf: TargetOf): string[] {
  const [kind, ...blocks] = membersOf(type, targetOf);
  return [`## ${type.name}`, `${kind}. ${oneLine(type.description ?? '')}`, ...blocks];
}

function membersOf(type: GraphQLNamedType, targetOf: TargetOf): [kind: string, ...blocks: string[]] {
  if (isObjectType(type)) {
    const interfaces = type.getInterfaces().map(({ name }) => code(name));
    const kind = interfaces.length === 0 ? 'Object' : `Object, implements ${interfaces.join(', ')}`;
    return [kind, ...fieldBlocks(type, targetOf)];
  }
  if (isInterfaceType(type)) return ['Interface', ...fieldBlocks(type, targetOf)];
  if (isScalarType(type)) {
    const { specifiedByURL: url } = type;
    return [typeof url === 'string' ? `Scalar, with ${link('a specification', url)}` : 'Scalar'];
  }
  if (isInputObjectType(type)) return ['Input', inputTable('field', Object.values(type.getFields()), targetOf)];
  if (isEnumType(type)) {
    const rows = type.getValues().map((value) => [code(value.name), described(value)]);
    return ['Enum', table(['value', 'meaning'], rows)];
  }
  throw new Error(`The reference does not support the kind of type ${type.name}.`);
}

function fieldBlocks(type: GraphQLObjectType | GraphQLInterfaceType, targetOf: TargetOf): string[] {
  const fields = Object.values(type.getFields());
  const rows = fields.map((field) => [code(field.name), typeLink(field.type, targetOf), described(field)]);
  const withArguments = fields.filter(({ args }) => args.length > 0);
  return [
    table(['field', 'type', 'description'], rows),
    ...withArguments.flatMap(({ name, args }) => [
      `Arguments of ${code(name)}:`,
      inputTable('argument', args, targetOf),
    ]),
  ];
}

/** The description of an element, preceded by its deprecation reason. */
function described({ description, deprecationReason }: Pick<GraphQLEnumValue, 'description' | 'deprecationReason'>) {
  return `${deprecationReason ? `**Deprecated:** ${deprecationReason} ` : ''}${description ?? ''}`;
}

/** A type as SDL writes it, linked to its section. */
export function typeLink(type: GraphQLType, targetOf: TargetOf): string {
  const named = getNamedType(type);
  const text = code(String(type));
  return isSpecifiedScalarType(named) ? text : link(text, targetOf(named));
}

type InputValue = GraphQLArgument | GraphQLInputField;

/** The arguments of a field or the fields of an input type. Empty if there are none. */
export function inputTable(noun: 'argument' | 'field', values: readonly InputValue[], targetOf: TargetOf): string {
  if (values.length === 0) return '';
  const hasDefaults = values.some((value) => defaultOf(value) !== '');
  return table(
    [noun, 'type', ...(hasDefaults ? ['default'] : []), 'description'],
    values.map((value) => [
      code(value.name),
      typeLink(value.type, targetOf),
      ...(hasDefaults ? [defaultOf(value)] : []),
      described(value),
    ]),
  );
}

function defaultOf({ astNode }: InputValue): string {
  return astNode?.defaultValue === undefined ? '' : code(print(astNode.defaultValue));
}
