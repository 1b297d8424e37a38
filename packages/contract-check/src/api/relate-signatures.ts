import { afterToken, overloadsOf, ownParameterList, partsOf, type Tokens } from './signature-tokens.ts';

/** How a new signature relates to the old one, smallest first. After `other`, code that uses it may not compile. */
const relations = ['same', 'parameterRenamed', 'parameterAdded', 'parameterLoosened', 'other'] as const;

export type SignatureRelation = (typeof relations)[number];

/**
 * Compares two signatures. Names of parameters do not matter, in function types inside the signature neither. A function can
 * gain parameters at its end that callers may omit, and its parameters can become optional. Every other difference is
 * `other`. So is one of these in an overload before others, because it then also takes their calls.
 */
export function relateSignatures(from: string, to: string): SignatureRelation {
  if (from === to) return 'same';
  const [before, now] = [overloadsOf(from), overloadsOf(to)];
  if (before.length !== now.length) return 'other';
  const found = before.map((tokens, index) => {
    const relation = relateOverloads(tokens, now[index] ?? tokens);
    const takesMore = relation === 'parameterAdded' || relation === 'parameterLoosened';
    return takesMore && index < before.length - 1 ? 'other' : relation;
  });
  return relations.findLast((relation) => found.includes(relation)) ?? 'same';
}

function relateOverloads(from: Tokens, to: Tokens): SignatureRelation {
  if (from.texts.join(' ') === to.texts.join(' ')) return 'same';
  const [before, now] = [withoutNames(from), withoutNames(to)];
  if (before.texts.join(' ') === now.texts.join(' ')) return 'parameterRenamed';
  const [old, next] = [functionOf(before), functionOf(now)];
  if (old === null || next === null || old.around !== next.around) return 'other';
  const added = next.parameters.slice(old.parameters.length);
  const isCompatible = old.parameters.every((parameter, index) => {
    const kept = next.parameters[index];
    return kept?.type === parameter.type && (parameter.required || !kept.required);
  });
  if (!isCompatible || added.some(({ required }) => required)) return 'other';
  const isLoosened = old.parameters.some(
    ({ required }, index) => required && next.parameters[index]?.required === false,
  );
  return isLoosened ? 'parameterLoosened' : 'parameterAdded';
}

/** Replaces the name of each parameter by its position. A name can be a pattern: `{ limit }`. */
function withoutNames({ texts, parameterLists }: Tokens): Tokens {
  const result = [...texts];
  for (const [start, end] of parameterLists) {
    for (const [position, { from }] of partsOf({ texts, parameterLists }, start + 1, end).entries()) {
      const name = texts[from] === '...' ? from + 1 : from;
      // Not a parameter, but the object on which the function is called.
      if (texts[name] === 'this') continue;
      // A type predicate: `value is Entry`.
      if (texts[end + 2] === texts[name] && texts[end + 3] === 'is') result[end + 2] = `#${position}`;
      result.fill('', name, afterToken(texts, name));
      result[name] = `#${position}`;
    }
  }
  return overloadsOf(result.join(' '))[0] ?? { texts, parameterLists };
}

interface Callable {
  /** Modifiers, type parameters and the result. */
  readonly around: string;
  readonly parameters: readonly { readonly type: string; readonly required: boolean }[];
}

function functionOf(tokens: Tokens): Callable | null {
  const { texts, parameterLists } = tokens;
  const start = ownParameterList(tokens);
  const end = parameterLists.get(start);
  if (end === undefined) return null;
  const parameters = partsOf(tokens, start + 1, end).map(({ from, to }) => {
    const own = texts.slice(from, to);
    const colon = own.indexOf(':');
    const isOptional = own[colon - 1] === '?';
    return {
      type: [...own.slice(0, own[0] === '...' || own[0] === 'this' ? 1 : 0), ...own.slice(colon)].join(' '),
      required: !isOptional && own[0] !== '...',
    };
  });
  return { around: [...texts.slice(0, start), '()', ...texts.slice(end + 1)].join(' '), parameters };
}
