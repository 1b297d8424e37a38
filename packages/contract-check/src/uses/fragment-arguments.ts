import {
  GraphQLError,
  Kind,
  print,
  visit,
  type ASTNode,
  type ArgumentNode,
  type ExecutableDefinitionNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { sha256Of } from '../text-file.ts';
import type { IsClientDirective } from './client-directives.ts';
import { failWith } from './parse-document.ts';

/** By the name of the argument. Null if it is left out, so that what it is passed to is left out as well. */
type Values = ReadonlyMap<string, ValueNode | null>;

// Relay: `@argumentDefinitions(n: { type: "Int", defaultValue: 1 })` and `@arguments(n: 2)`. Houdini: `@arguments(n: { type: "Int",
// default: 1 })` and `@with(n: 2)`.
const definitionNames = new Set(['argumentDefinitions', 'arguments']);
const spreadNames = new Set(['arguments', 'uncheckedArguments_DEPRECATED', 'with']);

// Each level of fragments can double the lists of values, and the values themselves.
const maxCopies = 1000;
const maxValueLength = 10_000;

/**
 * Replaces the arguments of fragments by their values, as the compilers of Relay and Houdini do: each list of values has its own
 * fragment. A variable without a value stays, so that an operation that spreads the fragment does not define it: an argument that
 * is required, or that Relay gets from a `provider`.
 *
 * @throws {InputError} if fragments multiply their arguments without an end, or an argument is not declared or is repeated.
 */
export function withoutFragmentArguments(
  definitions: readonly ExecutableDefinitionNode[],
  isClient: IsClientDirective,
): ExecutableDefinitionNode[] {
  const argumentsIn = (
    { directives = [] }: FragmentDefinitionNode | FragmentSpreadNode,
    names: ReadonlySet<string>,
  ) => {
    const given = directives
      .filter(({ name }) => names.has(name.value) && isClient(name.value))
      .flatMap((directive) => directive.arguments ?? []);
    for (const [name, nodes] of Map.groupBy(given, (each) => each.name.value))
      if (nodes.length > 1)
        failWith(new GraphQLError(`There can be only one argument of a fragment named "${name}".`, { nodes }), '');
    return given;
  };
  const fragments = new Set<string>();
  const withArguments = new Map<string, { fragment: FragmentDefinitionNode; given: readonly ArgumentNode[] }>();
  for (const fragment of definitions) {
    if (fragment.kind !== Kind.FRAGMENT_DEFINITION) continue;
    fragments.add(fragment.name.value);
    const given = argumentsIn(fragment, definitionNames);
    if (given.length > 0) withArguments.set(fragment.name.value, { fragment, given });
  }

  const copies = new Map<string, FragmentDefinitionNode>();
  function copy(fragment: FragmentDefinitionNode, name: string, values: Values): void {
    if (copies.has(name)) return;
    // Known before it is expanded: a fragment that spreads itself is an error, which validation reports.
    copies.set(name, fragment);
    const selectionSet = substitute(fragment.selectionSet, values);
    copies.set(name, expand({ ...fragment, name: { ...fragment.name, value: name }, selectionSet }));
  }

  const expand = <T extends ASTNode>(node: T): T =>
    visit(node, {
      FragmentSpread(spread) {
        const target = withArguments.get(spread.name.value);
        const declared = new Set(target?.given.map(({ name }) => name.value));
        const all = argumentsIn(spread, spreadNames);
        const undeclared = all.find(({ name }) => !declared.has(name.value));
        const isChecked = !spread.directives?.some(({ name }) => name.value === 'uncheckedArguments_DEPRECATED');
        if (undeclared !== undefined && isChecked && fragments.has(spread.name.value))
          failAtUndeclared(undeclared, spread);
        const passed = all.filter(({ name }) => declared.has(name.value));
        if (target === undefined || passed.length === 0) return undefined;
        const key = passed.map(({ name, value }) => `${name.value}: ${print(value)}`).toSorted();
        if (copies.size > maxCopies || key.join().length > maxValueLength) failAtGrowth(spread);
        const name = `${spread.name.value}_${sha256Of(key.join()).slice(0, 8)}`;
        const own = passed.map(({ name: { value: argument }, value }) => [argument, value] as const);
        copy(target.fragment, name, new Map([...defaultsOf(target.given), ...own]));
        return { ...spread, name: { ...spread.name, value: name } };
      },
    });
  for (const [name, { fragment, given }] of withArguments) copy(fragment, name, defaultsOf(given));
  const others = definitions.filter(
    (each) => each.kind !== Kind.FRAGMENT_DEFINITION || !withArguments.has(each.name.value),
  );
  return [...others.map(expand), ...copies.values()];
}

function failAtUndeclared(argument: ArgumentNode, { name }: FragmentSpreadNode): never {
  const problem = `Fragment "${name.value}" declares no argument "${argument.name.value}".`;
  const way = 'Declare it with @argumentDefinitions (in Houdini: @arguments), or leave it out.';
  failWith(new GraphQLError(`${problem} ${way}`, { nodes: argument }), '');
}

function failAtGrowth(spread: FragmentSpreadNode): never {
  const problem = `An operation has more than ${maxCopies} lists of arguments of fragments, or longer ones than`;
  failWith(new GraphQLError(`${problem} ${maxValueLength} characters.`, { nodes: spread }), '');
}

/** Without a required argument, and without one that a provider gives. */
function defaultsOf(given: readonly ArgumentNode[]): Map<string, ValueNode | null> {
  const defaults = new Map<string, ValueNode | null>();
  for (const { name, value } of given) {
    const members = new Map(
      value.kind === Kind.OBJECT ? value.fields.map((field) => [field.name.value, field.value]) : [],
    );
    const type = members.get('type');
    const isRequired = type?.kind === Kind.STRING && type.value.endsWith('!');
    const otherwise = members.get('defaultValue') ?? members.get('default');
    if (otherwise !== undefined) defaults.set(name.value, otherwise);
    else if (!isRequired && !members.has('provider')) defaults.set(name.value, null);
  }
  return defaults;
}

function substitute(selectionSet: SelectionSetNode, values: Values): SelectionSetNode {
  const isLeftOut = ({ value }: { readonly value: ValueNode }): boolean =>
    value.kind === Kind.VARIABLE && values.get(value.name.value) === null;
  return visit(selectionSet, {
    Argument: (node) => (isLeftOut(node) ? null : undefined),
    ObjectField: (node) => (isLeftOut(node) ? null : undefined),
    Variable: {
      // On leaving, so that a value that contains a variable of the same name is not visited.
      leave({ name }) {
        const value = values.get(name.value);
        return value === null ? { kind: Kind.NULL } : value;
      },
    },
  });
}
