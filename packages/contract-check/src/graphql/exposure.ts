import { isExecutable, namedType, type GraphqlContract } from './contract.ts';

/** The direction in which values of a type are sent: `input` to the server, `output` to the client. */
export type Position = 'input' | 'output' | 'both';

export type Exposure = ReturnType<typeof exposureOf>;

/**
 * The types that operations can reach from the root types and the directives of a schema.
 *
 * @param partial whether other parts of the schema can reach every type
 */
export function exposureOf(contract: GraphqlContract, partial = false) {
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  const returned = new Set<string>();
  const pairs = [...contract.types.values()].flatMap(({ name, interfaces, members }) => [
    ...[...interfaces].map((container) => ({ container, name })),
    ...[...members].map((member) => ({ container: name, name: member })),
  ]);
  // The members of a union or the implementations of an interface, and the unions and interfaces that contain a type.
  const possible = Map.groupBy(pairs, ({ container }) => container);
  const abstract = Map.groupBy(pairs, ({ name }) => name);
  // A work list instead of recursion: a chain of ten thousand types would overflow the stack.
  const pending: (() => void)[] = [];

  function reachInput(name: string): void {
    if (inputs.has(name)) return;
    inputs.add(name);
    const fields = contract.types.get(name)?.inputFields.values() ?? [];
    for (const { type } of fields) pending.push(() => reachInput(namedType(type)));
  }

  /**
   * Reaches a type that a fragment can name. Its fields can be selected. Inside a fragment on a type, there can be fragments on the
   * unions and interfaces that contain it, and inside those, fragments on their other types, which are never returned.
   */
  function reachOutput(name: string): void {
    if (outputs.has(name)) return;
    outputs.add(name);
    for (const each of abstract.get(name) ?? []) pending.push(() => reachOutput(each.container));
    for (const each of possible.get(name) ?? []) pending.push(() => reachOutput(each.name));
    for (const field of contract.types.get(name)?.fields.values() ?? []) {
      pending.push(() => reachReturned(namedType(field.type)));
      for (const argument of field.arguments ?? []) pending.push(() => reachInput(namedType(argument.type)));
    }
  }

  /** Reaches a type that a field returns, and its members or implementations. */
  function reachReturned(name: string): void {
    if (returned.has(name)) return;
    returned.add(name);
    pending.push(() => reachOutput(name));
    for (const each of possible.get(name) ?? []) pending.push(() => reachReturned(each.name));
  }

  for (const name of contract.roots.values()) reachReturned(name);
  for (const directive of contract.directiveDefinitions.values())
    if (isExecutable(directive)) for (const { type } of directive.arguments ?? []) reachInput(namedType(type));
  for (const { name, kind } of partial ? contract.types.values() : []) {
    if (kind === 'input object') reachInput(name);
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
    /** Null if no operation can reach the type. */
    positionOf(name: string): Position | null {
      if (inputs.has(name)) return outputs.has(name) ? 'both' : 'input';
      return outputs.has(name) ? 'output' : null;
    },
    /** Whether a field can return the type. For an abstract type, a response can then contain each implementation. */
    isReturned: (name: string): boolean => returned.has(name),
  };
}
