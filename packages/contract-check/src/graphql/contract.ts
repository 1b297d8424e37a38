import type { ConstDirectiveNode, ConstValueNode, TypeNode } from 'graphql';
import type { Notice } from '../change.ts';
import type { Locator } from '../location.ts';

/** A schema with its extensions merged. The order of maps has no meaning. */
export interface GraphqlContract {
  readonly description: string | null;
  /** Name of the root type by operation type (`query`, `mutation`, `subscription`). */
  readonly roots: ReadonlyMap<string, string>;
  /** Without the built-in scalars. */
  readonly types: ReadonlyMap<string, TypeDefinition>;
  readonly directives: ReadonlyMap<string, DirectiveDefinition>;
  /** Directives applied to the schema itself. */
  readonly applied: readonly ConstDirectiveNode[];
  readonly locator: Locator;
  /** Undefined directives and inconsistent deprecations. */
  readonly notices: readonly Notice[];
}

export type TypeKind = 'scalar' | 'object' | 'interface' | 'union' | 'enum' | 'input';

/** A type of any kind. Members that the kind does not have are empty. */
export interface TypeDefinition extends Documented {
  readonly kind: TypeKind;
  /** Fields of objects and interfaces. */
  readonly fields: Map<string, FieldDefinition>;
  /** Fields of input objects. */
  readonly inputFields: Map<string, InputValue>;
  readonly interfaces: Set<string>;
  /** Members of unions. */
  readonly members: Set<string>;
  /** Values of enums. */
  readonly values: Map<string, Documented>;
}

/** A schema element with a name, a description and applied directives. */
export interface Documented {
  readonly name: string;
  description: string | null;
  applied: readonly ConstDirectiveNode[];
}

export interface FieldDefinition extends Documented {
  readonly type: TypeNode;
  readonly args: ReadonlyMap<string, InputValue>;
}

/** An argument of a field or directive, or a field of an input object. */
export interface InputValue extends Documented {
  readonly type: TypeNode;
  /** Null if there is no default. The literal `null` is a default. */
  readonly defaultValue: ConstValueNode | null;
}

export interface DirectiveDefinition extends Documented {
  readonly args: ReadonlyMap<string, InputValue>;
  readonly locations: ReadonlySet<string>;
  readonly repeatable: boolean;
}

const executableLocations: ReadonlySet<string> = new Set(
  'QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION'.split(
    ' ',
  ),
);

/** Whether operations can apply a directive. Only SDL can apply the others. */
export function isExecutable({ locations }: DirectiveDefinition): boolean {
  return [...locations].some((location) => executableLocations.has(location));
}

/** An argument or input field is required if it is non-null and has no default. */
export function isRequired(input: InputValue): boolean {
  return input.type.kind === 'NonNullType' && input.defaultValue === null;
}

/** @param name replaces the name in the type: `[Int!]` with the name `{}` is `[{}!]` */
export function printType(type: TypeNode, name = namedType(type)): string {
  if (type.kind === 'NamedType') return name;
  return type.kind === 'ListType' ? `[${printType(type.type, name)}]` : `${printType(type.type, name)}!`;
}

export function namedType(type: TypeNode): string {
  return type.kind === 'NamedType' ? type.name.value : namedType(type.type);
}
