/** The value of a header field for the log. Undefined if it is long, or has other characters than visible ones of ASCII. */
export function loggableValue(value: unknown): string | undefined {
  return typeof value === 'string' && /^[!-~]{1,128}$/.test(value) ? value : undefined;
}
