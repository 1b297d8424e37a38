import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { fragmentsOf, responseNameOf } from './document-nodes.ts';
import { OperationTooComplexError } from './operation-too-complex-error.ts';

export interface MergeLimits {
  maxVisits: number;
  /** The check ends when it has found more. */
  maxErrors: number;
}

export interface MergeCheck {
  /** One error for each response name that cannot be merged. Empty if the document passes. */
  errors: GraphQLError[];
  /** The selections that were visited, each as often as fragments and the parts of a group repeat it. */
  visits: number;
}

/**
 * Checks what graphql's `OverlappingFieldsCanBeMergedRule` checks: fields with the same response name must have the same
 * name and arguments unless their parents are different object types, and must return compatible types in any case. It
 * merges the selections of such fields and checks the result once, where graphql's rule compares each pair of fields.
 *
 * @param document passes graphql's other rules. The schema does not define `@stream`.
 * @throws {OperationTooComplexError} after more than `maxVisits` visits.
 */
export function checkMergeableFields(
  schema: GraphQLSchema,
  document: DocumentNode,
  { maxVisits, maxErrors }: MergeLimits,
): MergeCheck {
  const fragments = fragmentsOf(document);
  const keyOfArguments = createArgumentKeys();
  const errors: GraphQLError[] = [];
  let visits = 0;
  /** Some fields were not compared in the first pass, because their parents are different object types. */
  let hasExclusiveParents = false;

  function visit(count: number): void {
    visits += count;
    if (visits > maxVisits) throw tooManyVisits(maxVisits);
  }

  function collect(sources: readonly Source[]): Map<string, SelectedField[]> {
    const groups = new Map<string, SelectedField[]>();
    const spread = new Set<string>();

    function add({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): void {
      for (const selection of selections) {
        visit(1);
        if (selection.kind === Kind.FIELD) {
          const responseName = responseNameOf(selection);
          const selected = { node: selection, parent, type: typeOf(selection, parent) };
          const group = groups.get(responseName);
          if (group) group.push(selected);
          else groups.set(responseName, [selected]);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) {
          const condition = selection.typeCondition;
          add(selection.selectionSet, condition ? schema.getType(condition.name.value) : parent);
        } else if (!spread.has(selection.name.value)) {
          spread.add(selection.name.value);
          const fragment = fragments.get(selection.name.value);
          if (fragment) add(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
        }
      }
    }
    for (const { selectionSet, parent } of sources) add(selectionSet, parent);
    return groups;
  }

  /** Runs one pass. `check` returns the sets of fields whose selections are merged. */
  function walk(
    sources: readonly Source[],
    walked: Set<SelectionSetNode>,
    check: (responseName: string, group: readonly SelectedField[]) => readonly (readonly SelectedField[])[],
  ): void {
    const [only, ...others] = sources;
    if (!only) return;
    if (others.length === 0) {
      if (walked.has(only.selectionSet)) return;
      walked.add(only.selectionSet);
    }
    for (const [responseName, group] of collect(sources)) {
      if (errors.length > maxErrors) return;
      for (const merged of check(responseName, group)) walk(sourcesOf(merged), walked, check);
    }
  }

  function report(responseName: string, reason: string, one: SelectedField, other: SelectedField): [] {
    const message = `Fields "${responseName}" conflict because ${reason}. Use different aliases on the fields to fetch both if this was intentional.`;
    errors.push(new GraphQLError(message, { nodes: [one.node, other.node] }));
    return [];
  }

  /** The fields that can be selected from the same object. */
  function checkSameField(responseName: string, group: readonly SelectedField[]) {
    const parts = partsWithCommonParents(group);
    if (parts.length > 1) {
      hasExclusiveParents = true;
      for (const part of parts) visit(part.length);
    }
    return parts.filter((part) => {
      const [first, ...rest] = part;
      if (!first) return false;
      for (const other of rest) {
        const [name, otherName] = [first.node.name.value, other.node.name.value];
        if (name !== otherName) {
          report(responseName, `"${name}" and "${otherName}" are different fields`, first, other);
          return false;
        }
        if (keyOfArguments(first.node) !== keyOfArguments(other.node)) {
          report(responseName, 'they have differing arguments', first, other);
          return false;
        }
      }
      return checkSameShape(responseName, part).length > 0;
    });
  }

  function checkSameShape(responseName: string, group: readonly SelectedField[]) {
    const typed = group.find(({ type }) => type !== undefined);
    for (const other of group) {
      if (typed?.type && other.type && !haveSameShape(typed.type, other.type)) {
        const reason = `they return conflicting types "${String(typed.type)}" and "${String(other.type)}"`;
        return report(responseName, reason, typed, other);
      }
    }
    return [group];
  }

  const operations = document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION
      ? [{ selectionSet: node.selectionSet, parent: schema.getRootType(node.operation) ?? undefined }]
      : [],
  );
  const walked = new Set<SelectionSetNode>();
  for (const operation of operations) walk([operation], walked, checkSameField);
  if (hasExclusiveParents && errors.length === 0) {
    const walkedForShape = new Set<SelectionSetNode>();
    for (const operation of operations) walk([operation], walkedForShape, checkSameShape);
  }
  return { errors, visits };
}

/** A selection set and the type that it selects from. */
interface Source {
  selectionSet: SelectionSetNode;
  parent: GraphQLNamedType | undefined;
}

interface SelectedField {
  node: FieldNode;
  parent: GraphQLNamedType | undefined;
  /** Undefined for `__typename`, `__schema` and `__type`. */
  type: GraphQLOutputType | undefined;
}

function typeOf({ name }: FieldNode, parent: GraphQLNamedType | undefined): GraphQLOutputType | undefined {
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name.value]?.type : undefined;
}

function sourcesOf(fields: readonly SelectedField[]): Source[] {
  return fields.flatMap(({ node: { selectionSet }, type }) =>
    selectionSet ? [{ selectionSet, parent: getNamedType(type) }] : [],
  );
}

/** One part for each object type among the parents. A field of an interface or a union is in every part. */
function partsWithCommonParents(group: readonly SelectedField[]): readonly (readonly SelectedField[])[] {
  const objects = new Set<GraphQLNamedType>();
  for (const { parent } of group) if (isObjectType(parent)) objects.add(parent);
  if (objects.size <= 1) return [group];
  return Array.from(objects, (object) => group.filter(({ parent }) => parent === object || !isObjectType(parent)));
}

function haveSameShape(one: GraphQLOutputType, other: GraphQLOutputType): boolean {
  if (one === other) return true;
  if (isListType(one) || isListType(other)) {
    return isListType(one) && isListType(other) && haveSameShape(one.ofType, other.ofType);
  }
  if (isNonNullType(one) || isNonNullType(other)) {
    return isNonNullType(one) && isNonNullType(other) && haveSameShape(one.ofType, other.ofType);
  }
  return !isLeafType(one) && !isLeafType(other);
}

/** Returns equal texts for the same arguments, whatever their order. Reads the arguments of each field once. */
function createArgumentKeys(): (field: FieldNode) => string {
  const keys = new Map<FieldNode, string>();
  return (field) => {
    const { arguments: given = [] } = field;
    if (given.length === 0) return '';
    let key = keys.get(field);
    if (key === undefined) {
      key = keyOfNamed(given);
      keys.set(field, key);
    }
    return key;
  };
}

function keyOfNamed(nodes: readonly Pick<ArgumentNode, 'name' | 'value'>[]): string {
  return nodes
    .map(({ name, value }) => `${name.value}:${keyOfValue(value)}`)
    .toSorted()
    .join(',');
}

function keyOfValue(node: ValueNode): string {
  switch (node.kind) {
    case Kind.VARIABLE:
      return `$${node.name.value}`;
    case Kind.NULL:
      return 'null';
    case Kind.LIST:
      return `[${node.values.map(keyOfValue).join(',')}]`;
    case Kind.OBJECT:
      return `{${keyOfNamed(node.fields)}}`;
    case Kind.STRING:
      // graphql's rule tells a block string from another string with the same value.
      return `${node.block ? 'block' : ''}${JSON.stringify(node.value)}`;
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return String(node.value);
  }
}

function tooManyVisits(limit: number): Error {
  const allowed = limit.toLocaleString('en');
  return new OperationTooComplexError(
    `The document selects more than ${allowed} fields when its fragments are expanded. Select less, or split it into several requests.`,
  );
}
