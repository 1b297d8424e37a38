import { afterToken, isName, overloadsOf, ownParameterList, partsOf, type Tokens } from './signature-tokens.ts';

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
  const functions = Array.from(parameterLists, ([start, end]) => ({ start, end, last: afterResult(texts, end + 1) }));
  // The inner ones come first, whose parameters hide those around them.
  for (const { start, end, last } of functions) {
    const depth = functions.filter((around) => around.start < start && start < around.last).length;
    for (const [position, { from }] of partsOf({ texts, parameterLists }, start + 1, end).entries()) {
      const name = texts[from] === '...' ? from + 1 : from;
      // Not a parameter, but the object on which the function is called.
      if (texts[name] === 'this') continue;
      const isPattern = !isName(texts[name] ?? '');
      // Names in a pattern can be those in a `typeof`.
      if (isPattern && texts.slice(start, last).includes('typeof')) continue;
      const replacement = `#${depth}.${position}`;
      for (let at = start; at < last; at += 1)
        if (result[at] === texts[name] && isUse(texts, at)) result[at] = replacement;
      result.fill('', name, afterToken(texts, name));
      result[name] = replacement;
    }
  }
  return overloadsOf(result.join(' '))[0] ?? { texts, parameterLists };
}

/** Whether a type names a parameter: `value is Entry`, `asserts value`, `typeof value`. */
function isUse(texts: readonly string[], at: number): boolean {
  return texts[at + 1] === 'is' || texts[at - 1] === 'asserts' || texts[at - 1] === 'typeof';
}

/** The index after the result of a function, which ends at the next comma or closing bracket around it. */
function afterResult(texts: readonly string[], start: number): number {
  let at = start;
  while (at < texts.length && !/^[,;)\]}>]$/.test(texts[at] ?? '')) at = afterToken(texts, at);
  return at;
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
