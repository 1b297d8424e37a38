import { AttemptError } from './attempt-error.ts';

/**
 * One object of headers with lower-case names; of headers that are given twice the later counts.
 * @throws AttemptError `PROTOCOL_ERROR` for a header that cannot be sent: a line break in it would start another
 */
export function requestHeaders(...sources: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of sources.flatMap((source) => Object.entries(source))) {
    // RFC 9110: a token; and of field values only what every server reads alike.
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\u0020-\u007e]*$/.test(value)) {
      throw new AttemptError('PROTOCOL_ERROR', `The request header ${JSON.stringify(name)} cannot be sent.`);
    }
    headers.set(name.toLowerCase(), value);
  }
  return Object.fromEntries(headers);
}
