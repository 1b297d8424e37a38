import { namedType, type GraphqlContract, type TypeDefinition } from './contract.ts';

/** The direction in which values of a type are sent: `input` to the server, `output` to the client. */
export type Position = 'input' | 'output' | 'both';

/** The types that operations can reach from the root types and the directives of a schema. */
export interface Exposure {
  /** Null if no operation can reach the type. */
  positionOf(typeName: string): Position | null;
  /** Whether a field can return the type. For an abstract type, a response can then contain each implementation. */
  isReturned(typeName: string): boolean;
}

/** @param partial whether other parts of the schema can reach every type */
export function exposureOf(contract: GraphqlContract, partial = false): Exposure {
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  const returned = new Set<string>();
  const implementations = implementationsOf(contract);
  // A work list instead of recursion: a chain of ten thousand types would overflow the stack.
  const pending: (() => void)[] = [];

  function reachInput(name: string): void {
    if (inputs.has(name)) return;
    inputs.add(name);
    const fields = contract.types.get(name)?.inputFields.values() ?? [];
    for (const { type } of fields) pending.push(() => reachInput(namedType(type)));
  }

  /** Reaches a type that a fragment can name. Its fields can be selected. */
  function reachOutput(name: string): void {
    if (outputs.has(name)) return;
    outputs.add(name);
    const type = contract.types.get(name);
    if (type === undefined) return;
    for (const each of type.interfaces) pending.push(() => reachOutput(each));
    for (const field of type.fields.values()) {
      pending.push(() => reachReturned(namedType(field.type)));
      for (const argument of field.args.values()) pending.push(() => reachInput(namedType(argument.type)));
    }
  }

  /** Reaches a type that a field returns, and its members or implementations. */
  function reachReturned(name: string): void {
    if (returned.has(name)) return;
    returned.add(name);
    pending.push(() => reachOutput(name));
    const members = [...(contract.types.get(name)?.members ?? []), ...(implementations.get(name) ?? [])];
    for (const member of members) pending.push(() => reachReturned(member));
  }

  for (const name of contract.roots.values()) reachReturned(name);
  for (const directive of contract.directives.values())
    for (const { type } of directive.args.values()) reachInput(namedType(type));
  for (const { name, kind } of partial ? contract.types.values() : []) {
    if (kind === 'input') reachInput(name);
    else if (kind !== 'scalar' && kind !== 'enum') reachReturned(name);
  }
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) next();
  for (const name of partial ? contract.types.keys() : []) {
    // A scalar or enum that this part does not use can have both positions in another part.
    if (inputs.has(name) || outputs.has(name)) continue;
    inputs.add(name);
    outputs.add(name);
  }

  return {
    positionOf(name) {
      if (inputs.has(name)) return outputs.has(name) ? 'both' : 'input';
      return outputs.has(name) ? 'output' : null;
    },
    isReturned: (name) => returned.has(name),
  };
}

function implementationsOf(contract: GraphqlContract): Map<string, string[]> {
  const implementations = new Map<string, string[]>();
  const add = (of: string, type: TypeDefinition): void => {
    const names = implementations.get(of);
    if (names === undefined) implementations.set(of, [type.name]);
    else names.push(type.name);
  };
  for (const type of contract.types.values()) for (const name of type.interfaces) add(name, type);
  return implementations;
}
