/** Text from which escapes were removed, and where in the first text each of its characters comes from. */
export interface UnescapedText {
  /** As bytes in ISO 8859-1. */
  readonly text: string;
  /** The position of the first character of each one. */
  readonly starts: Uint32Array;
  /** The position after the last character of each one. */
  readonly ends: Uint32Array;
}

/** An escape can be in another one, for example in JSON in JSON. */
const depthMax = 3;

/** Returns the text, and what it is after each of up to 3 removals of all escapes of JSON, URLs and HTML. Takes linear time. */
export function unescapedTexts(text: string): UnescapedText[] {
  const starts = Uint32Array.from({ length: text.length }, (_, index) => index);
  let last: UnescapedText | null = { text, starts, ends: starts.map((start) => start + 1) };
  const texts: UnescapedText[] = [];
  while (last !== null && texts.length <= depthMax) {
    texts.push(last);
    last = unescaped(last);
  }
  return texts;
}

const escapes = new RegExp(
  [
    String.raw`\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|(["'\\/]))`,
    '%([0-9a-f]{2})',
    '&(?:#x0{0,6}([0-9a-f]{1,6});?|#0{0,6}([0-9]{1,7});?|([a-z]{2,6});)',
  ].join('|'),
  'gi',
);

/** Of ASCII, without letters, digits, `-` and `~`, which have none. */
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  ast: '*',
  bsol: '\\',
  colon: ':',
  comma: ',',
  commat: '@',
  dollar: '$',
  equals: '=',
  excl: '!',
  grave: '`',
  gt: '>',
  hat: '^',
  lbrace: '{',
  lbrack: '[',
  lcub: '{',
  lowbar: '_',
  lpar: '(',
  lsqb: '[',
  lt: '<',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quest: '?',
  quot: '"',
  rbrace: '}',
  rbrack: ']',
  rcub: '}',
  rpar: ')',
  rsqb: ']',
  semi: ';',
  sol: '/',
  verbar: '|',
  vert: '|',
};

/** Null without an escape. */
function unescaped({ text, starts, ends }: UnescapedText): UnescapedText | null {
  const parts: string[] = [];
  // An escape is never shorter than its bytes.
  const [newStarts, newEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
  let [length, from] = [0, 0];
  const keep = (to: number): void => {
    parts.push(text.slice(from, to));
    newStarts.set(starts.subarray(from, to), length);
    newEnds.set(ends.subarray(from, to), length);
    length += to - from;
  };
  for (const escape of text.matchAll(escapes)) {
    const bytes = bytesOf(escape);
    if (bytes === null) continue;
    keep(escape.index);
    from = escape.index + escape[0].length;
    parts.push(bytes);
    newStarts.fill(starts[escape.index] ?? 0, length, length + bytes.length);
    newEnds.fill(ends[from - 1] ?? 0, length, length + bytes.length);
    length += bytes.length;
  }
  if (parts.length === 0) return null;
  keep(text.length);
  return { text: parts.join(''), starts: newStarts.subarray(0, length), ends: newEnds.subarray(0, length) };
}

/** The bytes of UTF-8 that an escape stands for. Null if there is no such character. */
function bytesOf([, unicode, braced, hex, character, percent, entityHex, entityNumber, entity]: RegExpExecArray):
  | string
  | null {
  if (character !== undefined) return character;
  // A byte, and not a character.
  if (percent !== undefined) return String.fromCodePoint(Number.parseInt(percent, 16));
  if (entity !== undefined) return entities[entity.toLowerCase()] ?? null;
  const sixteen = unicode ?? braced ?? hex ?? entityHex;
  const code = sixteen === undefined ? Number(entityNumber) : Number.parseInt(sixteen, 16);
  return code > 0x10_ff_ff ? null : Buffer.from(String.fromCodePoint(code)).toString('latin1');
}
