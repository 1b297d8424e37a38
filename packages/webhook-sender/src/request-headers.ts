import { AttemptError } from './attempt-error.ts';

/**
 * Merges headers into one object with lower-case names. Later sources override earlier ones.
 *
 * @throws {AttemptError} when a name or a value is invalid: `PROTOCOL_ERROR`. A line break would inject another header.
 */
export function requestHeaders(...sources: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of sources.flatMap((source) => Object.entries(source))) {
    // The name is a token (RFC 9110). Values are limited to printable ASCII, which every server interprets identically.
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\u0020-\u007e]*$/.test(value)) {
      throw new AttemptError(
        'PROTOCOL_ERROR',
        `The request header ${JSON.stringify(name)} has an invalid name or value.`,
      );
    }
    headers.set(name.toLowerCase(), value);
  }
  return Object.fromEntries(headers);
}
