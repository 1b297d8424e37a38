import type { Rule } from '../change.ts';
import type { Documented, GraphqlContract } from './contract.ts';
import { graphqlRules } from './rules.ts';

/** The directives of Apollo Federation that clients and other subgraphs do not notice. */
const internal: readonly string[] = [
  'link',
  'tag',
  'composeDirective',
  'extends',
  'requires',
  'provides',
  'override',
  'cacheControl',
];
/** Those that let others use something, and those that keep others from it. */
const grants: readonly string[] = ['key', 'shareable'];
const restrictions: readonly string[] = ['inaccessible', 'external', 'authenticated', 'requiresScopes', 'policy'];

/** Whether a schema states that it uses the directives of Apollo Federation. */
export function isFederated({ applied }: GraphqlContract): boolean {
  return applied.some(
    ({ name, arguments: args }) =>
      name.value === 'link' &&
      args?.some(({ value }) => value.kind === 'StringValue' && value.value.includes('specs.apollo.dev/')) === true,
  );
}

/**
 * The rules for a change of a directive of Apollo Federation. Null for another directive.
 *
 * @param isAdded whether it has an application that it did not have, possibly with other arguments
 * @param isRemoved whether it lacks an application that it had
 */
export function federationRules(directive: string, isAdded: boolean, isRemoved: boolean): readonly Rule[] | null {
  const name = importedName(directive);
  if (internal.includes(name)) return [graphqlRules.federationInternal];
  if (!grants.includes(name) && !restrictions.includes(name)) return null;
  const [isOpened, isClosed] = grants.includes(name) ? [isAdded, isRemoved] : [isRemoved, isAdded];
  return [...(isOpened ? [graphqlRules.federationOpened] : []), ...(isClosed ? [graphqlRules.federationClosed] : [])];
}

/** Another notation of an argument that means the same: a selection of fields with other blanks, or in another order. */
export function canonicalArgument(directive: string, name: string, literal: string): string {
  if (name !== 'fields' || !['key', 'requires', 'provides'].includes(importedName(directive))) return literal;
  const words: readonly string[] = literal.slice(1, -1).match(/[{}]|[^\s,{}]+/g) ?? [];
  return JSON.stringify((words.includes('{') ? words : words.toSorted()).join(' '));
}

/** Without the prefix that a directive has if a subgraph does not import it. */
function importedName(directive: string): string {
  return directive.replace(/^federation__/, '');
}

/** The coordinates of the elements that no client can use. */
export function inaccessibleIn({ types }: GraphqlContract): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (coordinate: string, { applied }: Documented): void => {
    if (applied.some(({ name }) => importedName(name.value) === 'inaccessible')) found.add(coordinate);
  };
  for (const type of types.values()) {
    visit(type.name, type);
    for (const each of [...type.fields.values(), ...type.inputFields.values(), ...type.values.values()])
      visit(`${type.name}.${each.name}`, each);
    for (const { name, args } of type.fields.values())
      for (const argument of args.values()) visit(`${type.name}.${name}(${argument.name}:)`, argument);
  }
  return found;
}
