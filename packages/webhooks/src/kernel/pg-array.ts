/** A value whose text needs no quotes in the text form of an array. */
type PlainValue = number | string | bigint | boolean | Date | null;

/**
 * Encodes numbers, ids, enum values, booleans or times as a PostgreSQL array. The encoder of pg takes several times as
 * long, because it escapes each element.
 *
 * @param values strings must contain digits, letters and `-+:._` only; other texts need `pgTextArray`
 */
export function pgArray(values: readonly PlainValue[]): string {
  // `String` keeps the texts of numbers in a cache, which only a full collection empties, and takes three times as long.
  if (values.every((value) => value === null || Number.isFinite(value)))
    return `{${JSON.stringify(values).slice(1, -1)}}`;
  let text = '{';
  let separator = '';
  for (const value of values) {
    text += separator;
    if (value === null) text += 'NULL';
    else if (value instanceof Date) text += value.toISOString();
    else text += String(value);
    separator = ',';
  }
  return `${text}}`;
}

/** Encodes any texts as a PostgreSQL array. */
export function pgTextArray(values: readonly (string | null)[]): string {
  let text = '{';
  let separator = '';
  for (const value of values) {
    text += separator;
    text += value === null ? 'NULL' : `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
    separator = ',';
  }
  return `${text}}`;
}

/**
 * Assigns a number to each distinct text, so that a statement receives each text once and reads it as
 * `(texts::text[])[number]`. Use it for few distinct texts: PostgreSQL walks through a text array up to the subscript.
 */
export class TextDictionary {
  readonly #numbers = new Map<string, number>();

  /** @returns the number of the text, from 1 */
  add(text: string): number {
    const found = this.#numbers.get(text);
    if (found !== undefined) return found;
    const number = this.#numbers.size + 1;
    this.#numbers.set(text, number);
    return number;
  }

  toPgArray(): string {
    return pgTextArray([...this.#numbers.keys()]);
  }
}
