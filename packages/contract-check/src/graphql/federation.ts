import type { Rule } from '../change.ts';
import type { GraphqlContract } from './contract.ts';
import { graphqlRules } from './rules.ts';

/** The directives of Apollo Federation that clients and other subgraphs do not notice. */
const internal: readonly string[] = 'link tag composeDirective extends requires provides override cacheControl'.split(
  ' ',
);
/** Those that let others use something, and those that keep others from it. */
const grants: readonly string[] = ['key', 'shareable'];
const restrictions: readonly string[] = ['inaccessible', 'external', 'authenticated', 'requiresScopes', 'policy'];

/** Whether a schema states that it uses the directives of Apollo Federation. */
export function isFederated({ directives = [] }: GraphqlContract): boolean {
  return directives.some(
    ({ name, arguments: args }) =>
      name.value === 'link' &&
      args?.some(({ value }) => value.kind === 'StringValue' && value.value.includes('specs.apollo.dev/')) === true,
  );
}

/** The rules for a change of the applications of a directive of Apollo Federation, as texts. Null for another directive. */
export function federationRules(directive: string, from: readonly string[], to: readonly string[]): Rule[] | null {
  const name = importedName(directive);
  if (internal.includes(name)) return [graphqlRules.federationInternal];
  if (!grants.includes(name) && !restrictions.includes(name)) return null;
  const isAdded = to.some((each) => !from.includes(each));
  const isRemoved = from.some((each) => !to.includes(each));
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

/** Whether no client can use the element at a coordinate, or something around it. */
export function isInaccessible({ types }: GraphqlContract, coordinate: string): boolean {
  const [, name = '', member = '', argument = ''] = /^(\w+)(?:\.(\w+)(?:\((\w+):\))?)?$/.exec(coordinate) ?? [];
  const type = types.get(name);
  const field = type?.fields.get(member);
  const argumentOfField = field?.arguments?.find((each) => each.name.value === argument);
  const elements = [type, field, type?.inputFields.get(member), type?.values.get(member), argumentOfField];
  return elements.some((each) => each?.directives?.some((node) => importedName(node.name.value) === 'inaccessible'));
}
