import type { FieldDefinitionNode, TypeNode } from 'graphql';
import { namedType, printType, type GraphqlContract, type TypeDefinition } from './contract.ts';
import type { Exposure } from './exposure.ts';

/**
 * The fields that an operation can select beside a field, under its name in the response: those with the same name and shape, of
 * types in one selection set. Such fields must have equal shapes (`FieldsInSetCanMerge` of the GraphQL specification), even if
 * no object has both.
 */
export type Neighbours = (type: TypeDefinition, field: FieldDefinitionNode) => readonly Neighbour[];

export interface Neighbour {
  readonly typeName: string;
  readonly field: FieldDefinitionNode;
}

/**
 * Finds the neighbours in a schema. A selection set on an interface or union can contain fragments on each of its types, and these
 * contain fragments on the other interfaces of those types, and so on. The selection sets of neighbours are merged, so that
 * their types are in one selection set too.
 */
export function neighboursIn(contract: GraphqlContract, exposure: Exposure): Neighbours {
  const selectable = [...contract.types.values()].filter(({ name }) => isOutput(exposure, name));
  const groups = new DisjointSets();
  for (const { name, interfaces, members } of selectable)
    for (const each of [...interfaces, ...members]) if (isOutput(exposure, each)) groups.join(name, each);
  const all = selectable.flatMap(({ name, fields: own }) =>
    [...own.values()].map((field): Neighbour => ({ typeName: name, field })),
  );
  const keyOf = ({ typeName, field }: Neighbour): string =>
    `${groups.find(typeName)}.${field.name.value}: ${shape(field.type, contract)}`;
  let fields: Map<string, Neighbour[]>;
  let hasJoined: boolean;
  do {
    fields = Map.groupBy(all, keyOf);
    hasJoined = false;
    for (const [first, ...others] of fields.values()) {
      if (first === undefined || !isComposite(contract, namedType(first.field.type))) continue;
      for (const { field } of others)
        if (groups.join(namedType(first.field.type), namedType(field.type))) hasJoined = true;
    }
  } while (hasJoined);
  return ({ name }, field) =>
    (fields.get(keyOf({ typeName: name, field })) ?? []).filter(({ typeName }) => typeName !== name);
}

function isOutput(exposure: Exposure, name: string): boolean {
  const position = exposure.positionOf(name);
  return position === 'output' || position === 'both';
}

function isComposite(contract: GraphqlContract, name: string): boolean {
  const kind = contract.types.get(name)?.kind;
  return kind === 'object type' || kind === 'interface' || kind === 'union';
}

/** What `SameResponseShape` compares: lists, nullability, and the name of a scalar or enum. */
function shape(type: TypeNode, contract: GraphqlContract): string {
  const name = namedType(type);
  return printType(type, isComposite(contract, name) ? '{}' : name);
}

class DisjointSets {
  readonly #parents = new Map<string, string>();

  find(name: string): string {
    let root = name;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    // Shortens the path of each name on it.
    for (let each = name; each !== root;) {
      const parent = this.#parents.get(each) ?? root;
      this.#parents.set(each, root);
      each = parent;
    }
    return root;
  }

  /** Returns false if the names are already in one set. */
  join(a: string, b: string): boolean {
    const from = this.find(a);
    const to = this.find(b);
    if (from === to) return false;
    this.#parents.set(from, to);
    return true;
  }
}
