/**
 * Whether a text can be kept and shown: well-formed Unicode, without NUL (PostgreSQL refuses it), not blank, and at most
 * `maxLength` code points long.
 */
export function isText(value: string, maxLength: number): boolean {
  return isTextOrBlank(value, maxLength) && value.trim() !== '';
}

/** As `isText`, but it may be blank. */
export function isTextOrBlank(value: string, maxLength: number): boolean {
  // A code point takes one or two units: the cheap test first, so that a megabyte is never spread into an array.
  return (
    value.length <= maxLength * 2 && value.isWellFormed() && !value.includes('\0') && [...value].length <= maxLength
  );
}

/** The longest address that SMTP carries (RFC 5321, 4.5.3.1.3, less the angle brackets). */
const emailMaxLength = 254;

/**
 * Whether a text can be an e-mail address: something before and after one `@`, no spaces or control characters. Whether
 * it exists only a letter to it can tell.
 */
export function isEmail(value: string): boolean {
  return isText(value, emailMaxLength) && /^[^\s\p{Cc}@]+@[^\s\p{Cc}@.]+(?:\.[^\s\p{Cc}@.]+)*$/u.test(value);
}
