import {
  aroundParameters,
  isCallable,
  nodesIn,
  parameterNames,
  parametersOf,
  parseSignature,
  textOf,
  textsOf,
  withNames,
  type Names,
  type Node,
} from './signature.ts';

/** How a new signature relates to the old one, smallest first. After `other`, code that uses it may not compile. */
const relations = ['same', 'parameterRenamed', 'parameterAdded', 'parameterLoosened', 'other'] as const;

export type SignatureRelation = (typeof relations)[number];

/** A node, and what the names around it stand for. */
type Part = ReturnType<typeof partsOf>[number];

/**
 * Compares two signatures. Names of parameters do not matter, in function types inside the signature neither. A function can
 * gain parameters at its end that callers may omit, and its parameters can become optional, and so can the members of an object
 * type in its parameters. Every other difference is `other`. So is one of these in an overload before others, because it then
 * also takes their calls.
 *
 * @param names what the names in each of the declarations stand for
 */
export function relateSignatures(from: string, to: string, names: readonly [Names, Names]): SignatureRelation {
  if (from === to) return 'same';
  const [before, now] = [partsOf(from, names[0]), partsOf(to, names[1])];
  if (before.length !== now.length) return 'other';
  const found = before.map((part, index) => {
    const relation = relateParts(part, now[index] ?? part);
    const takesMore = relation === 'parameterAdded' || relation === 'parameterLoosened';
    return takesMore && index < before.length - 1 ? 'other' : relation;
  });
  return relations.findLast((relation) => found.includes(relation)) ?? 'same';
}

/** The text of a signature without what a compiler may write in another way. */
export function normalized(text: string, names: Names): string {
  return partsOf(text, names).map(textIn).join('; ');
}

function textIn({ node, names, modifiers }: Part): string {
  return `${modifiers}${textOf(node, names)}`;
}

function partsOf(text: string, names: Names) {
  const { parts, modifiers, typeParameters } = parseSignature(text);
  const added = typeParameters.map(({ name }) => String(name));
  const inner = withNames(names, added);
  return parts.map((node) => ({ node, names: inner, modifiers }));
}

function relateParts(from: Part, to: Part): SignatureRelation {
  if (textIn(from) === textIn(to))
    return parameterNames(from.node).join() === parameterNames(to.node).join() ? 'same' : 'parameterRenamed';
  const [around, stillAround] = [from, to].map(({ node, names }) => aroundParameters(node, names));
  if (!isCallable(from.node) || from.modifiers !== to.modifiers || around !== stillAround) return 'other';
  const [old, next] = [parametersOf(from.node, from.names), parametersOf(to.node, to.names)];
  const added = next.slice(old.length);
  const kept = old.map((parameter, index) => {
    const other = next[index];
    if (other === undefined || (!parameter.required && other.required)) return 'other';
    if (other.type === parameter.type) return parameter.required === other.required ? 'same' : 'parameterLoosened';
    return isLoosened(parameter.object, other.object, from.names, to.names) ? 'parameterLoosened' : 'other';
  });
  if (kept.includes('other') || added.some(({ required }) => required)) return 'other';
  return kept.includes('parameterLoosened') ? 'parameterLoosened' : 'parameterAdded';
}

/** Whether an object type has the same members and optional ones, some of which were required. */
function isLoosened(from: Node | undefined, to: Node | undefined, names: Names, namesNow: Names): boolean {
  if (from === undefined || to === undefined) return false;
  const keyOf = ({ key }: Node): string => textsOf(key, names).join('');
  const members = nodesIn(to['members']).flatMap((each) => {
    if (each['optional'] !== true) return [each];
    const old = nodesIn(from['members']).find((other) => keyOf(other) === keyOf(each));
    return old === undefined ? [] : [{ ...each, optional: old['optional'] }];
  });
  return textOf(from, names) === textOf({ ...to, members }, namesNow);
}
