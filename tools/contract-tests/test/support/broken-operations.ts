import {
  type DocumentNode,
  getNamedType,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Consumer } from './consumers.ts';

/** An operation of a consumer that a schema does not support. */
export interface BrokenOperation {
  consumer: string;
  operation: string;
  /** The schema coordinate at which the operation is invalid, for example `Lender.members`. */
  coordinate: string;
  message: string;
}

/** Validates each operation of a consumer against a schema and returns one entry per error. */
export function findBrokenOperations(consumer: Consumer, schema: GraphQLSchema): BrokenOperation[] {
  const document = parse(consumer.document);
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) =>
      validate(schema, withFragments(document, operation)).map((error) => ({
        consumer: consumer.name,
        operation: operation.name?.value ?? '',
        coordinate: coordinateOf(error, document, schema),
        message: error.message,
      })),
    );
}

/** Returns a document with one operation and the fragments that it uses, directly or through other fragments. */
function withFragments(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  );
  const used = new Set<string>();
  const collect = (node: Parameters<typeof visit>[0]): void => {
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value);
        if (fragment === undefined || used.has(value)) return;
        used.add(value);
        collect(fragment);
      },
    });
  };
  collect(operation);
  return {
    kind: Kind.DOCUMENT,
    definitions: [operation, ...[...used].flatMap((name) => fragments.get(name) ?? [])],
  };
}

/** Returns the schema coordinate of a validation error: that of the error's node, or of the field that contains it. */
function coordinateOf(error: GraphQLError, document: DocumentNode, schema: GraphQLSchema): string {
  const nodes = new Set<unknown>(error.nodes);
  const typeInfo = new TypeInfo(schema);
  let field = '';
  let argument = '';
  let found = '';
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      enter(node) {
        if (node.kind === Kind.FIELD) field = `${typeInfo.getParentType()?.name ?? ''}.${node.name.value}`;
        if (node.kind === Kind.ARGUMENT) argument = `${field}(${node.name.value}:)`;
        // An error of a variable names its definition and its use. Only the use has a coordinate.
        if (found !== '' || !nodes.has(node) || node.kind === Kind.VARIABLE_DEFINITION) return;
        if (node.kind === Kind.ARGUMENT || node.kind === Kind.VARIABLE) found = argument;
        else if (node.kind === Kind.OBJECT_FIELD) found = `${inputTypeName(typeInfo)}.${node.name.value}`;
        else if (node.kind === Kind.NAMED_TYPE) found = node.name.value;
        else found = field;
      },
    }),
  );
  return found;
}

function inputTypeName(typeInfo: TypeInfo): string {
  return getNamedType(typeInfo.getParentInputType())?.name ?? '';
}
