import { Kind, visit, type ExecutableDefinitionNode, type FragmentDefinitionNode } from 'graphql';
import type { IsClientDirective } from './client-directives.ts';
import { withoutClientParts } from './client-parts.ts';
import { withoutFragmentArguments } from './fragment-arguments.ts';

/** Removes what is not sent. */
export type Clean = (written: readonly ExecutableDefinitionNode[]) => ExecutableDefinitionNode[];

/** Definitions without what only a client knows. */
export function withoutClient(
  written: readonly ExecutableDefinitionNode[],
  isClient: IsClientDirective,
): ExecutableDefinitionNode[] {
  return withoutClientParts(withoutFragmentArguments(written, isClient), isClient);
}

/** Definitions that a client sends as they are, without directives that a gateway removes. */
export function withoutDirectives(
  written: readonly ExecutableDefinitionNode[],
  ignored: readonly string[],
): ExecutableDefinitionNode[] {
  return written.map((each) =>
    visit(each, { Directive: ({ name }) => (ignored.includes(name.value) ? null : undefined) }),
  );
}

/**
 * An operation and its fragments as a client sends them. Fragments and variables that are used only in what it does not send are
 * not sent either. A variable that nothing uses stays, because it is an error.
 */
export function sentDefinitions(
  operation: ExecutableDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
  clean: Clean,
): ExecutableDefinitionNode[] {
  const written = [operation, ...fragments];
  const sent = clean(written);
  const [before, after] = [usedBy(written), usedBy(sent)];
  const isSent = (name: string): boolean => after.variables.has(name) || !before.variables.has(name);
  return sent
    .filter((each) => each.kind !== Kind.FRAGMENT_DEFINITION || after.fragments.has(each.name.value))
    .map((each) => {
      if (each.kind === Kind.FRAGMENT_DEFINITION) return each;
      const variables = each.variableDefinitions ?? [];
      return { ...each, variableDefinitions: variables.filter(({ variable }) => isSent(variable.name.value)) };
    });
}

function fragmentsIn(definitions: readonly ExecutableDefinitionNode[]): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** The names of the fragments and variables that the operation uses, including in fragments. */
function usedBy(definitions: readonly ExecutableDefinitionNode[]) {
  const all = fragmentsIn(definitions);
  const [fragments, variables] = [new Set<string>(), new Set<string>()];
  const use = (definition: ExecutableDefinitionNode): void => {
    visit(definition, {
      VariableDefinition: () => false,
      Variable({ name }) {
        variables.add(name.value);
      },
      FragmentSpread({ name }) {
        const fragment = all.get(name.value);
        if (fragment === undefined || fragments.has(name.value)) return;
        fragments.add(name.value);
        use(fragment);
      },
    });
  };
  for (const each of definitions) if (each.kind === Kind.OPERATION_DEFINITION) use(each);
  return { fragments, variables };
}
