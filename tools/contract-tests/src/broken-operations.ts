import {
  getNamedType,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  type DocumentNode,
  type OperationDefinitionNode,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Consumer } from './consumers.ts';

/** What a change to a version takes away from a consumer. */
export interface BrokenOperation {
  consumer: string;
  operation: string;
  /** The schema coordinate that the operation needs, for example `Lender.members`. */
  coordinate: string;
  message: string;
}

/** Everything that a consumer's operations need and a schema does not have, or has in another way. */
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

/** One operation with the fragments that it uses, directly or through others. */
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

/** Where in the schema an operation and the schema disagree: at the node of the error, or at the field around it. */
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
        // A variable that does not fit is named at its definition and at its use: the use tells where.
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
