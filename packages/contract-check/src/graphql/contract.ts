import {
  Kind,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DirectiveDefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  type NameNode,
  type StringValueNode,
  type TypeNode,
} from 'graphql';
import type { Locator, Notice } from '../change.ts';

/** A schema with its extensions merged. The order of maps has no meaning. */
export interface GraphqlContract extends Documented {
  /** Name of the root type by operation type (`query`, `mutation`, `subscription`). */
  readonly roots: ReadonlyMap<string, string>;
  /** Without the built-in scalars. */
  readonly types: ReadonlyMap<string, TypeDefinition>;
  readonly directiveDefinitions: ReadonlyMap<string, DirectiveDefinitionNode>;
  readonly locator: Locator;
  /** Undefined directives and inconsistent deprecations. */
  readonly notices: readonly Notice[];
}

export type TypeKind = 'scalar' | 'object type' | 'interface' | 'union' | 'enum' | 'input object';

/** A type of any kind. Members that the kind does not have are empty. */
export interface TypeDefinition extends Documented {
  readonly kind: TypeKind;
  readonly name: string;
  /** Fields of objects and interfaces. */
  readonly fields: ReadonlyMap<string, FieldDefinitionNode>;
  /** Fields of input objects. */
  readonly inputFields: ReadonlyMap<string, InputValueDefinitionNode>;
  readonly interfaces: ReadonlySet<string>;
  /** Members of unions. */
  readonly members: ReadonlySet<string>;
  /** Values of enums. */
  readonly values: ReadonlyMap<string, EnumValueDefinitionNode>;
}

/** A schema element with a description and the directives that are applied to it. */
export interface Documented {
  readonly description?: StringValueNode | undefined;
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
}

export function byName<T extends { readonly name: NameNode }>(nodes: readonly T[] = []): Map<string, T> {
  return new Map(nodes.map((node) => [node.name.value, node]));
}

const executableLocations: ReadonlySet<string> = new Set(
  'QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION'.split(
    ' ',
  ),
);

/** Whether operations can apply a directive. Only SDL can apply the others. */
export function isExecutable({ locations }: DirectiveDefinitionNode): boolean {
  return locations.some(({ value }) => executableLocations.has(value));
}

/** An argument or input field is required if it is non-null and has no default. */
export function isRequired(input: InputValueDefinitionNode): boolean {
  return input.type.kind === 'NonNullType' && input.defaultValue === undefined;
}

/** @param name replaces the name in the type: `[Int!]` with the name `{}` is `[{}!]` */
export function printType(type: TypeNode, name = namedType(type)): string {
  if (type.kind === 'NamedType') return name;
  return type.kind === 'ListType' ? `[${printType(type.type, name)}]` : `${printType(type.type, name)}!`;
}

export function namedType(type: TypeNode): string {
  return type.kind === 'NamedType' ? type.name.value : namedType(type.type);
}

/** How a new type relates to the old one. `narrower`: non-null at more places. `wider`: at fewer. `other`: both, or neither. */
export type TypeRelation = 'same' | 'narrower' | 'wider' | 'other';

export function relateTypes(from: TypeNode, to: TypeNode): TypeRelation {
  if (from.kind === 'NonNullType' && to.kind === 'NonNullType') return relateTypes(from.type, to.type);
  if (to.kind === 'NonNullType') return both('narrower', relateTypes(from, to.type));
  if (from.kind === 'NonNullType') return both('wider', relateTypes(from.type, to));
  if (from.kind === 'ListType' && to.kind === 'ListType') return relateTypes(from.type, to.type);
  // A list and its item type, or two type names, are unrelated: operations for one are usually invalid for the other.
  return printType(from) === printType(to) ? 'same' : 'other';
}

function both(outer: TypeRelation, inner: TypeRelation): TypeRelation {
  return inner === 'same' || inner === outer ? outer : 'other';
}

/**
 * Prints literals that a server coerces to the same value as the same text: `1` and `[1]` for a list, `1` and `1.0` for
 * a Float, `1` and `"1"` for an ID, `{a: 1, b: 2}` and `{b: 2, a: 1}`, a string and a block string.
 *
 * @param type undefined if it is unknown, or anything inside a custom scalar
 * @param isFilled whether to add the defaults of the fields that an input object omits
 */
export function canonicalLiteral(
  contract: GraphqlContract,
  type: TypeNode | undefined,
  value: ConstValueNode,
  isFilled = false,
): string {
  const print = (innerType: TypeNode | undefined, inner: ConstValueNode): string =>
    canonicalLiteral(contract, innerType, inner, isFilled);
  if (type?.kind === 'NonNullType') return print(type.type, value);
  if (value.kind === Kind.NULL) return 'null';
  if (type?.kind === 'ListType' || value.kind === Kind.LIST) {
    const items = value.kind === Kind.LIST ? value.values : [value];
    return `[${items.map((item) => print(type?.kind === 'ListType' ? type.type : undefined, item)).join(',')}]`;
  }
  const name = type && namedType(type);
  if (value.kind === Kind.OBJECT) {
    const inputFields = contract.types.get(name ?? '')?.inputFields ?? byName<InputValueDefinitionNode>();
    const members = new Map(
      value.fields.map((field) => [field.name.value, print(inputFields.get(field.name.value)?.type, field.value)]),
    );
    // An old schema can contain a default of its own type, so the defaults in it are not added.
    for (const [absent, { type: fieldType, defaultValue }] of isFilled ? inputFields : [])
      if (defaultValue !== undefined && !members.has(absent))
        members.set(absent, canonicalLiteral(contract, fieldType, defaultValue));
    return `{${Array.from(members, ([member, text]) => `${member}:${text}`)
      .toSorted()
      .join(',')}}`;
  }
  if (name === 'Float' && (value.kind === Kind.INT || value.kind === Kind.FLOAT)) return String(Number(value.value));
  const isText = value.kind === Kind.STRING || (name === 'ID' && value.kind === Kind.INT);
  return isText ? JSON.stringify(value.value) : String(value.value);
}
