/** A number of a JSON text, exactly as written: a double would round 9007199254740993, and 1e400 to infinity. */
export class JsonNumber {
  // The value is digits × 10^exponent. The digits do not end with 0, so that equal numbers have equal fields.
  readonly #digits: bigint;
  readonly #exponent: bigint;

  private constructor(digits: bigint, exponent: bigint) {
    const text = String(digits);
    let end = text.length;
    while (end > 1 && text[end - 1] === '0') end -= 1;
    this.#digits = BigInt(text.slice(0, end));
    this.#exponent = digits === 0n ? 0n : exponent + BigInt(text.length - end);
  }

  /** @param text a number in the syntax of JSON */
  static parse(text: string): JsonNumber {
    const [significand = '', exponent = '0'] = text.toLowerCase().split('e');
    const [whole = '', fraction = ''] = significand.split('.');
    return new JsonNumber(BigInt(whole + fraction), BigInt(exponent.replace('+', '')) - BigInt(fraction.length));
  }

  get isInteger(): boolean {
    return this.#exponent >= 0n;
  }

  /** 1 for a positive number, 0 for zero, and -1 for a negative number. */
  get sign(): number {
    return Math.sign(Number(this.#digits));
  }

  /** The number of digits before the decimal point. Not above 0 if the number is between -1 and 1. */
  get magnitude(): bigint {
    return BigInt(String(this.#digits).replace('-', '').length) + this.#exponent;
  }

  /** Negative if this number is smaller than the other one, positive if it is larger, otherwise 0. */
  compare(other: JsonNumber): number {
    if (this.sign !== other.sign || this.sign === 0) return this.sign - other.sign;
    // Aligning numbers of different magnitudes could take more memory than there is: 1 and 1e999999999.
    if (this.magnitude !== other.magnitude) return this.magnitude < other.magnitude ? -this.sign : this.sign;
    const exponent = this.#exponent < other.#exponent ? this.#exponent : other.#exponent;
    const [own, others] = [this, other].map((each) => each.#digits * 10n ** (each.#exponent - exponent));
    return own === others ? 0 : (own ?? 0n) < (others ?? 0n) ? -1 : 1;
  }

  /** Whether this number is an integer times a positive divisor. */
  isMultipleOf(divisor: JsonNumber): boolean {
    const shift = this.#exponent - divisor.#exponent;
    if (shift < 0n) return this.#digits === 0n;
    // Each factor 10 divides out at most one factor 2 and one factor 5, so a number has no use for more of them than bits.
    const bits = BigInt(divisor.#digits.toString(2).length);
    return (this.#digits * 10n ** (shift < bits ? shift : bits)) % divisor.#digits === 0n;
  }

  /** The largest integer that is not above this number, plus `more`. Bound the magnitude before: it writes out all digits. */
  floor(more = 0n): JsonNumber {
    if (this.isInteger) return new JsonNumber(this.#digits * 10n ** this.#exponent + more, 0n);
    const truncated = this.magnitude <= 0n ? 0n : this.#digits / 10n ** -this.#exponent;
    return new JsonNumber(truncated - (this.sign < 0 ? 1n : 0n) + more, 0n);
  }

  /** Prints like `Number`, with all digits. Equal numbers print as equal texts. */
  toString(): string {
    const digits = String(this.#digits).replace('-', '');
    const sign = this.sign < 0 ? '-' : '';
    const point = Number(this.magnitude);
    if (point > 21 || point < -5) {
      const exponent = `${point > 0 ? '+' : ''}${this.magnitude - 1n}`;
      return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${exponent}`;
    }
    if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
    const whole = digits.slice(0, point).padEnd(point, '0');
    return sign + (digits.length > point ? `${whole}.${digits.slice(point)}` : whole);
  }
}

type JsonPrimitive = string | JsonNumber | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** An own member of an object. `constructor` and other names of the prototype are ordinary names in JSON. */
export function ownMember(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Prints equal values as equal texts. Members are sorted, because JSON objects are unordered. */
export function canonicalJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.toString();
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** The JSON Pointer of the object or list around a value. Null for the document as a whole. */
export function parentPointer(pointer: string): string | null {
  return pointer === '' ? null : pointer.slice(0, pointer.lastIndexOf('/'));
}

/** Appends a key to a JSON Pointer (RFC 6901). */
export function childPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
