/**
 * Returns true if the text is well-formed Unicode without NUL (which PostgreSQL rejects), is not blank, and has at most
 * `maxLength` code points.
 */
export function isText(value: string, maxLength: number): boolean {
  return isTextOrBlank(value, maxLength) && value.trim() !== '';
}

/** Like `isText`, but also accepts blank text. */
export function isTextOrBlank(value: string, maxLength: number): boolean {
  // A code point has one or two UTF-16 units. The cheap check of the length comes first, so that a large text is never
  // spread into an array.
  return (
    value.length <= maxLength * 2 && value.isWellFormed() && !value.includes('\0') && [...value].length <= maxLength
  );
}

/** The maximum length of an SMTP address (RFC 5321, 4.5.3.1.3) without its angle brackets. */
const emailMaxLength = 254;

/**
 * Returns true if the text has the form of an email address: non-empty parts before and after a single `@`, without
 * spaces or control characters. It does not check that the address exists.
 */
export function isEmail(value: string): boolean {
  return isText(value, emailMaxLength) && /^[^\s\p{Cc}@]+@[^\s\p{Cc}@.]+(?:\.[^\s\p{Cc}@.]+)*$/u.test(value);
}

/** For error messages about a length: `201 characters`. Counts code points, as `isText` does. */
export function describeLength(value: string): string {
  const length = Array.from(value).length;
  return length === 1 ? '1 character' : `${length.toLocaleString('en')} characters`;
}
