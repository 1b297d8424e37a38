import { folded, formsOf, runLength, type SecretForms, separators } from './secret-forms.ts';
import { type UnescapedText, unescapedTexts } from './unescaped-text.ts';

/** A request header with a secret value. */
export interface SecretHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * Removes the value of a secret header from what is kept or shown of an attempt: a receiver can echo it. Each function of a response takes
 * time in proportion to the length of its text. They do not find a value that is encrypted, reversed or in UTF-16.
 */
export interface HeaderMask {
  /** The value of a header that was sent, or what replaces it. */
  readonly sent: (name: string, value: string) => string;
  /** @param name the name of a header that was received */
  readonly name: (name: string) => string;
  /** @param value that of a header that was received, decoded as ISO 8859-1 */
  readonly value: (value: string) => string;
  readonly body: (bytes: Buffer, received: ReceivedBody) => Buffer;
}

interface ReceivedBody {
  /** More followed, so the end can be the beginning of the value. */
  readonly isCut: boolean;
  /** The header `Content-Encoding`. */
  readonly encoding: string | null | undefined;
}

const label = '[the request header]';
const encodedBody = Buffer.from('[not kept: the body has a Content-Encoding, and can contain the request header]');

export function headerMask({ name: ofHeader, value: secret }: SecretHeader): HeaderMask {
  const lowerCase = ofHeader.toLowerCase();
  let kept: WeakRef<SecretForms> | null = null;
  // Most attempts need none, and those of a long value are several megabytes. All functions of one exchange use the same ones.
  const forms = (): SecretForms => {
    const present = kept?.deref();
    if (present !== undefined) return present;
    const made = formsOf(secret);
    kept = new WeakRef(made);
    return made;
  };
  return {
    sent: (name, value) => (value === secret && name.toLowerCase() === lowerCase ? label : value),
    name: (name) => replaced(name, spansOf(unescapedTexts(name), forms())),
    value(value) {
      const texts = unescapedTexts(value);
      const isWhole = texts.some(({ text }) => forms().words.has(folded(text)) || folded(text) === folded(secret));
      return isWhole ? label : replaced(value, spansOf(texts, forms()));
    },
    body(bytes, { isCut, encoding }) {
      if (!/^(?:identity)?$/i.test(encoding ?? '')) return encodedBody;
      const body = bytes.toString('latin1');
      const texts = unescapedTexts(body);
      const spans = spansOf(texts, forms());
      for (const text of texts) {
        spans.push(...wordsIn(text, forms(), secret));
        if (isCut) spans.push(...beginningAtEnd(text, forms()));
      }
      return Buffer.from(replaced(body, spans), 'latin1');
    },
  };
}

function isGap(character: string): boolean {
  return character === ' ' || character === '-';
}

/** In the first text, without the position `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Without spaces and hyphens around it, which separate an echo from the text. */
function spanOf({ text, starts, ends }: UnescapedText, from: number, to: number): Span {
  let [first, last] = [from, to - 1];
  while (first < last && isGap(text.charAt(first))) first += 1;
  while (last > first && isGap(text.charAt(last))) last -= 1;
  return { start: starts[first] ?? 0, end: ends[last] ?? 0 };
}

function spansOf(texts: readonly UnescapedText[], { runs }: SecretForms): Span[] {
  const spans: Span[] = [];
  for (const text of texts) {
    const same = folded(text.text);
    let from = -1;
    let to = -1;
    for (let end = runLength; end <= same.length; end += 1) {
      if (!runs.has(same.slice(end - runLength, end))) continue;
      if (end - runLength > to) {
        if (from >= 0) spans.push(spanOf(text, from, to));
        from = end - runLength;
      }
      to = end;
    }
    if (from >= 0) spans.push(spanOf(text, from, to));
  }
  return spans;
}

const anyWord = new RegExp(`[^${separators}]+`, 'g');
const separator = new RegExp(`^[${separators}]?$`);
/** In the two characters after a word. */
const endOfWord = new RegExp(`^\\.?(?:[${separators}]|$)`);

function wordsIn(unescaped: UnescapedText, { words }: SecretForms, secret: string): Span[] {
  const { text } = unescaped;
  const spans: Span[] = [];
  if (words.size === 0) return spans;
  for (const { 0: found, index } of text.matchAll(anyWord)) {
    // The end of a sentence.
    const word = found.replace(/(?<!\.)\.+$/, '');
    if (words.has(folded(word))) spans.push(spanOf(unescaped, index, index + word.length));
  }
  if (secret.length >= runLength) return spans;
  // A short value can contain separators.
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
    const end = at + secret.length;
    if (separator.test(text.charAt(at - 1)) && endOfWord.test(text.slice(end, end + 2)))
      spans.push(spanOf(unescaped, at, end));
  }
  return spans;
}

/** The end of the text with which one of the forms begins. Longer ones are found as runs. */
function beginningAtEnd(unescaped: UnescapedText, { all }: SecretForms): Span[] {
  const same = folded(unescaped.text);
  for (let length = runLength - 1; length >= 4; length -= 1) {
    const end = same.slice(-length);
    if (end.length === length && all.some((form) => form.startsWith(end)))
      return [spanOf(unescaped, same.length - length, same.length)];
  }
  return [];
}

function replaced(text: string, spans: Span[]): string {
  const parts: string[] = [];
  let shownTo = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (end <= shownTo) continue;
    // Spans that overlap or touch have one label.
    if (start > shownTo || parts.length === 0) parts.push(text.slice(shownTo, start), label);
    shownTo = end;
  }
  return parts.length === 0 ? text : `${parts.join('')}${text.slice(shownTo)}`;
}
