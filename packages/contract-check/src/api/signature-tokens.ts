/** The text of a TypeScript signature in tokens. */
export interface Tokens {
  readonly texts: readonly string[];
  /** The index of the opening bracket of each parameter list → the index of its closing bracket. */
  readonly parameterLists: ReadonlyMap<number, number>;
}

const tokenPattern = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|=>|\.\.\.|[\w$]+|\S/g;
const closingOf: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<', '>'],
]);
const closing: ReadonlySet<string> = new Set(closingOf.values());
const modifiers: ReadonlySet<string> = new Set(['abstract', 'new', 'private', 'protected', 'readonly', 'static']);

export function isName(token: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(token);
}

/** The overloads in a signature. */
export function overloadsOf(signature: string): Tokens[] {
  const overloads: string[][] = [[]];
  let depth = 0;
  for (const text of signature.match(tokenPattern) ?? []) {
    if (closingOf.has(text)) depth += 1;
    if (closing.has(text)) depth -= 1;
    if (text === ';' && depth === 0) overloads.push([]);
    else overloads.at(-1)?.push(text);
  }
  return overloads.map((texts) => ({ texts, parameterLists: parameterListsIn(texts) }));
}

function parameterListsIn(texts: readonly string[]): Map<number, number> {
  const found = new Map<number, number>();
  const open: number[] = [];
  for (const [index, text] of texts.entries()) {
    if (closingOf.has(text)) open.push(index);
    if (!closing.has(text)) continue;
    const start = open.pop() ?? 0;
    if (text === ')' && isParameterList(texts, start, index, open.at(-1))) found.set(start, index);
  }
  return found;
}

/** @param around the index of the bracket around the list, if any */
function isParameterList(texts: readonly string[], start: number, end: number, around: number | undefined): boolean {
  const [before, after] = [texts[start - 1], texts[end + 1]];
  if (after === '=>') return true;
  if (after !== ':' && after !== undefined) return false;
  // A function, method or constructor is a text of its own. Otherwise, it is a method of an object type.
  if (around === undefined) return before === undefined || before === '>' || modifiers.has(before);
  return texts[around] === '{' && before !== undefined && (before === '>' || isName(before));
}

/** The parts of a text that the commas at its depth separate, as the indexes of their first token and after their last one. */
export function partsOf({ texts }: Tokens, start: number, end: number): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  let from = start;
  for (let at = start; at < end; at = afterToken(texts, at)) {
    if (texts[at] !== ',') continue;
    parts.push({ from, to: at });
    from = at + 1;
  }
  if (from < end) parts.push({ from, to: end });
  return parts;
}

/** The index after a token, or after the closing bracket if the token is an opening one. */
export function afterToken(texts: readonly string[], start: number): number {
  let depth = 0;
  for (let index = start; index < texts.length; index += 1) {
    if (closingOf.has(texts[index] ?? '')) depth += 1;
    if (closing.has(texts[index] ?? '')) depth -= 1;
    if (depth === 0) return index + 1;
  }
  return texts.length;
}

/** Whether a text is a function type, whose values callers may assign, not a function, method or constructor. */
export function isFunctionType(tokens: Tokens): boolean {
  const end = tokens.parameterLists.get(ownParameterList(tokens));
  return end !== undefined && tokens.texts[end + 1] === '=>';
}

/** The index of the parameter list of a text that is a function, method, constructor or function type. -1 for other texts. */
export function ownParameterList({ texts, parameterLists }: Tokens): number {
  let at = 0;
  while (modifiers.has(texts[at] ?? '')) at += 1;
  if (texts[at] === '<') at = afterToken(texts, at);
  return parameterLists.has(at) ? at : -1;
}
