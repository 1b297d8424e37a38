import { conditionOf, fragmentsOf, responseNameOf, visitFields } from '@deedwire/operation-analysis';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';

/** How a value of a type becomes a part of the response. */
export type ValuePlan =
  | { kind: 'leaf'; isNonNull: boolean; type: GraphQLLeafType }
  | { kind: 'list'; isNonNull: boolean; item: ValuePlan }
  | { kind: 'object'; isNonNull: boolean; fields: FieldsPlan };

/** A field of the response, with everything about it that is the same in each run. */
export interface FieldPlan {
  responseName: string;
  definition: GraphQLField<unknown, unknown>;
  parentType: GraphQLObjectType;
  /** The fields of the document that are merged into this one. */
  nodes: readonly [FieldNode, ...FieldNode[]];
  value: ValuePlan;
}

export interface FieldsPlan {
  fields: readonly FieldPlan[];
  /** The response object with all its keys, in order. A copy of it is cheaper than adding the keys one by one. */
  empty: Readonly<Record<string, null>>;
}

/** Thrown when an operation cannot be compiled. It runs without a plan. */
export class CannotPlanError extends Error {
  override readonly name = 'CannotPlanError';
}

export interface OperationPlan {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  root: FieldsPlan;
  /** How many fields the plan has. */
  fieldCount: number;
}

/**
 * Plans an operation of a valid document: which fields to resolve, in which order, and how to complete their values.
 *
 * @param conditions the value of each variable of `@skip` and `@include`
 * @param maxFields fragments repeat fields, so that the plan of a short document can be very large
 * @throws {CannotPlanError} for subscriptions, introspection, abstract types and types with `isTypeOf`, which run rarely or not at
 * all, and for a plan with too many fields
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  { conditions, maxFields }: { conditions: ReadonlyMap<string, unknown>; maxFields: number },
): OperationPlan {
  const fragments = fragmentsOf(document);
  let fieldCount = 0;

  /** The selected fields of an object type by response name, in order. */
  function collect(type: GraphQLObjectType, parents: readonly Pick<FieldNode, 'selectionSet'>[]) {
    const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
    visitFields(
      parents.flatMap(({ selectionSet }) => selectionSet ?? []),
      fragments,
      (field) => {
        const responseName = responseNameOf(field);
        const nodes = fields.get(responseName);
        if (nodes) nodes.push(field);
        else fields.set(responseName, [field]);
      },
      (selection, condition) => isSelected(selection) && (selection.kind === Kind.FIELD || appliesTo(type, condition)),
    );
    return fields;
  }

  function isSelected({ directives = [] }: SelectionNode): boolean {
    return directives.every((directive) => {
      const condition = conditionOf(directive);
      if (!condition) return true;
      const value =
        condition.kind === Kind.VARIABLE
          ? conditions.get(condition.name.value)
          : condition.kind === Kind.BOOLEAN && condition.value;
      return directive.name.value === 'skip' ? value !== true : value === true;
    });
  }

  function appliesTo(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = schema.getType(condition);
    return isAbstractType(named) && schema.isSubType(named, type);
  }

  function planFields(parentType: GraphQLObjectType, parents: readonly Pick<FieldNode, 'selectionSet'>[]): FieldsPlan {
    const fields: FieldPlan[] = [];
    for (const [responseName, nodes] of collect(parentType, parents)) {
      fieldCount += 1;
      if (fieldCount > maxFields) throw new CannotPlanError(`The plan has more than ${maxFields} fields.`);
      // As a key of a plain object, it would set the prototype.
      if (responseName === '__proto__') throw new CannotPlanError('A response name is __proto__.');
      fields.push(planField(parentType, responseName, nodes));
    }
    return { fields, empty: Object.fromEntries(fields.map(({ responseName }) => [responseName, null])) };
  }

  function planField(parentType: GraphQLObjectType, responseName: string, nodes: FieldPlan['nodes']): FieldPlan {
    const name = nodes[0].name.value;
    if (name === '__schema' || name === '__type') throw new CannotPlanError('Introspection is not planned.');
    const definition = schema.getField(parentType, name);
    if (!definition) throw new CannotPlanError(`${parentType.name} has no field ${name}.`);
    return { responseName, definition, parentType, nodes, value: planValue(definition.type, nodes) };
  }

  function planValue(type: GraphQLOutputType, nodes: readonly FieldNode[]): ValuePlan {
    const isNonNull = isNonNullType(type);
    const nullable = isNonNull ? type.ofType : type;
    if (isLeafType(nullable)) return { kind: 'leaf', isNonNull, type: nullable };
    if (isListType(nullable)) return { kind: 'list', isNonNull, item: planValue(nullable.ofType, nodes) };
    if (!isObjectType(nullable) || nullable.isTypeOf)
      throw new CannotPlanError(`${nullable.name} is not a plain object type.`);
    return { kind: 'object', isNonNull, fields: planFields(nullable, nodes) };
  }

  const rootType = operation.operation === 'subscription' ? null : schema.getRootType(operation.operation);
  if (!rootType) throw new CannotPlanError(`A ${operation.operation} is not planned.`);
  const root = planFields(rootType, [operation]);
  return { schema, operation, fragments: Object.fromEntries(fragments), root, fieldCount };
}
