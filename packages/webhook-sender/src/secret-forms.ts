import { unescapedTexts } from './unescaped-text.ts';

/** So many characters of a secret in a row are looked for, wherever they are. */
export const runLength = 8;

/** Shorter parts of a value are too common to be looked for. */
const wordLengthMin = 4;

/** What to look for in a text that `folded` has changed in the same way. */
export interface SecretForms {
  /** All runs of `runLength` characters of the forms that have as many. */
  readonly runs: ReadonlySet<string>;
  /** The forms that are shorter and contain no separator. They are looked for as whole words. */
  readonly words: ReadonlySet<string>;
  /** All forms, for a text that ends within one. */
  readonly all: readonly string[];
}

/** What separates the words of a text. */
export const separators = String.raw`\s"'\`,;:=()[\]{}<>&?!|`;

/** Makes those texts equal that differ by case, by the alphabet of base64, or by how a form of HTML encodes a space. Keeps the length. */
export function folded(text: string): string {
  return text
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll(/[ -]/g, '+')
    .replaceAll('_', '/');
}

/** How a response can contain the value of a header: whole or in parts, plain or encoded. */
export function formsOf(value: string): SecretForms {
  const credentials = credentialsOf(value);
  const plain = [value, ...credentials].flatMap((text) =>
    unescapedTexts(Buffer.from(text).toString('latin1')).map((unescaped) => unescaped.text),
  );
  const encoded = [value, ...credentials.filter((text) => !value.includes(text) || text.length < runLength)].flatMap(
    (text) => encodedForms(Buffer.from(text)),
  );
  const texts = [...plain, ...encoded.filter(({ length }) => length >= wordLengthMin)];
  const all = [...new Set(texts.map(folded))];
  const runs = new Set<string>();
  for (const form of all)
    for (let end = runLength; end <= form.length; end += 1) runs.add(form.slice(end - runLength, end));
  const words = texts.filter((text) => text.length < runLength && !separator.test(text));
  return { runs, words: new Set(words.map(folded)), all };
}

const separator = new RegExp(`[${separators}]`);
const credential = new RegExp(`([^${separators}]+)(=(?=[^=\\s])|\\s)?`, 'g');

/** What follows the scheme of a value, its words without the names of parameters, and user and password of `Basic`. */
function credentialsOf(value: string): string[] {
  const words = [...value.matchAll(credential)];
  const texts = words.flatMap(([, word = '', next], index) =>
    next === '=' || (index === 0 && next !== undefined) ? [] : [word],
  );
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  texts.push(rest);
  if (scheme.toLowerCase() === 'basic') {
    const decoded = Buffer.from(rest, 'base64').toString();
    texts.push(decoded, decoded.slice(decoded.indexOf(':') + 1));
  }
  return texts.filter(({ length }) => length >= wordLengthMin);
}

/** Hexadecimal, and base64 wherever the secret begins in what is encoded, for example in a whole request. */
function encodedForms(bytes: Buffer): string[] {
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(before === 0 ? 0 : before + 1),
  );
  return [bytes.toString('hex'), ...base64];
}
