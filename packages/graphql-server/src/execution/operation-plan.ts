import {
  type FieldNode,
  getArgumentValues,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type ValueNode,
} from 'graphql';
import type { CollectedOperation } from './collect-fields.ts';

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
  /** Null if the arguments depend on variables. */
  constantArguments: Readonly<Record<string, unknown>> | null;
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
  operation: CollectedOperation;
  root: FieldsPlan;
  /** How many fields the plan has. */
  fieldCount: number;
}

/**
 * Plans an operation of a valid document: which fields to resolve, in which order, with which arguments, and how to complete
 * their values.
 *
 * @param maxFields fragments repeat fields, so that the plan of a short document can be very large
 * @throws {CannotPlanError} for introspection, abstract types and types with `isTypeOf`, which run rarely or not at all, and
 * for a plan with too many fields
 */
export function planOperation(operation: CollectedOperation, maxFields: number): OperationPlan {
  let fieldCount = 0;

  function planFields(parentType: GraphQLObjectType, parents: readonly FieldNode[] | null): FieldsPlan {
    const fields: FieldPlan[] = [];
    for (const [responseName, nodes] of operation.collect(parentType, parents)) {
      fieldCount += 1;
      if (fieldCount > maxFields) throw new CannotPlanError(`The plan has more than ${maxFields} fields.`);
      // As a key of a plain object, it would set the prototype.
      if (responseName === '__proto__') throw new CannotPlanError('A response name is __proto__.');
      fields.push(planField(parentType, responseName, nodes));
    }
    return { fields, empty: Object.fromEntries(fields.map(({ responseName }) => [responseName, null])) };
  }

  function planField(parentType: GraphQLObjectType, responseName: string, nodes: FieldPlan['nodes']): FieldPlan {
    const [node] = nodes;
    const name = node.name.value;
    if (name === '__schema' || name === '__type') throw new CannotPlanError('Introspection is not planned.');
    const definition = operation.schema.getField(parentType, name);
    if (!definition) throw new CannotPlanError(`${parentType.name} has no field ${name}.`);
    return {
      responseName,
      definition,
      parentType,
      nodes,
      constantArguments: constantArguments(definition, node),
      value: planValue(definition.type, nodes),
    };
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

  const root = planFields(operation.rootType, null);
  return { operation, root, fieldCount };
}

/** Returns null if the arguments have to be computed in each run. Objects and lists are, because resolvers may change them. */
function constantArguments(definition: FieldPlan['definition'], node: FieldNode): FieldPlan['constantArguments'] {
  if (node.arguments?.some(({ value }) => containsVariable(value))) return null;
  let values: Record<string, unknown>;
  try {
    values = getArgumentValues(definition, node);
  } catch {
    return null; // each run reports the error
  }
  return Object.values(values).every((value) => typeof value !== 'object' || value === null) ? values : null;
}

/** A custom scalar accepts any literal, so validation does not tell where its variables are. */
function containsVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(containsVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => containsVariable(field.value));
  return value.kind === Kind.VARIABLE;
}
