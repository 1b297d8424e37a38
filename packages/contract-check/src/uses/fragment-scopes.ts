import {
  GraphQLError,
  Kind,
  print,
  visit,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
} from 'graphql';
import { failWith } from './parse-document.ts';

/** What is read of one file, or of one persisted operation. */
export interface Scope {
  readonly documents: readonly DocumentNode[];
  /** Those of all its documents. */
  readonly definitions: readonly ExecutableDefinitionNode[];
  /** Whether it is all that a client sends: its fragments are not those of others. */
  readonly isComplete: boolean;
}

/** Returns the fragments that a definition of a scope spreads, and those that they spread. */
export type FindFragments = (definition: ExecutableDefinitionNode, scope: Scope) => FragmentDefinitionNode[];

/**
 * Finds fragments by name: those of the scope that spreads them, then those of the others. Fragments of one name that are written
 * alike are one. If they differ, nothing says which one is sent: some clients import fragments from files, and others need names
 * that are unique. Then spreads in other scopes are errors.
 *
 * @throws {InputError} by the function that it returns.
 */
export function fragmentFinder(scopes: readonly Scope[]): FindFragments {
  const own = new Map(scopes.map((scope) => [scope, fragmentsByName([scope])]));
  const shared = fragmentsByName(scopes.filter(({ isComplete }) => !isComplete));
  const scopeOf = new Map(
    scopes.flatMap((scope) => scope.definitions.map((definition) => [definition, scope] as const)),
  );
  const texts = new Map<FragmentDefinitionNode, string>();
  const textOf = (fragment: FragmentDefinitionNode): string => {
    const text = texts.get(fragment) ?? print(fragment);
    texts.set(fragment, text);
    return text;
  };

  return (root, scope) => {
    const chosen = new Map<string, FragmentDefinitionNode>();
    const pending = [root];
    for (const definition of pending)
      visit(definition, {
        FragmentSpread(spread) {
          const { value: name } = spread.name;
          const near = [scopeOf.get(definition) ?? scope, scope].map((each) => own.get(each)?.get(name));
          const found = near.find((each) => each !== undefined) ?? (scope.isComplete ? [] : (shared.get(name) ?? []));
          const before = chosen.get(name);
          const [first, ...others] = before === undefined ? found : [before, ...found];
          if (first === undefined) return;
          const other = others.find((each) => textOf(each) !== textOf(first));
          if (other !== undefined) failDiffering(name, [spread, first, other]);
          if (before !== undefined) return;
          chosen.set(name, first);
          pending.push(first);
        },
      });
    return [...chosen.values()];
  };
}

function failDiffering(name: string, nodes: readonly (FragmentDefinitionNode | FragmentSpreadNode)[]): never {
  const problem = `Fragments with the name "${name}" differ, and nothing says which one is sent.`;
  const way = 'Rename one, or pass the persisted operations of the client.';
  failWith(new GraphQLError(`${problem} ${way}`, { nodes }), '');
}

function fragmentsByName(scopes: readonly Scope[]): Map<string, FragmentDefinitionNode[]> {
  const definitions = scopes.flatMap((scope) => scope.definitions);
  return Map.groupBy(
    definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION),
    ({ name }) => name.value,
  );
}
