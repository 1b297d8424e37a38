/** The types of records that have an id: those of the platform, such as `WebhookEvent`, and those of the application. */
export type RecordTypeName = string;

// Exists for the compiler only: no value has this property.
declare const recordType: unique symbol;

/**
 * The id of a record of one type, as PostgreSQL's `bigint` in decimal: `'1'` to `'9223372036854775807'`. The ids of two types
 * are not assignable to each other.
 */
export type RecordId<TypeName extends RecordTypeName> = string & { readonly [recordType]: TypeName };

/** The id of an account of any interface. */
export type AccountId = RecordId<'Account'>;

const largestBigint = '9223372036854775807';

/** Returns null for anything but the decimal form of a positive `bigint`, for example for a number with a leading zero. */
export function parseRecordId<TypeName extends RecordTypeName>(text: string): RecordId<TypeName> | null {
  if (!/^[1-9]\d{0,18}$/.test(text)) return null;
  if (text.length === largestBigint.length && text > largestBigint) return null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only place where an id gets its type, beside SQL rows
  return text as RecordId<TypeName>;
}

/**
 * The same for a text that is known to be an id.
 *
 * @throws {TypeError} when it is none
 */
export function toRecordId<TypeName extends RecordTypeName>(text: string): RecordId<TypeName> {
  const id = parseRecordId<TypeName>(text);
  if (id === null) throw new TypeError(`${JSON.stringify(text)} is not the id of a record.`);
  return id;
}
