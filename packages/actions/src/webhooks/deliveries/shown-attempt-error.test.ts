import { expect, test } from 'vitest';
import { toShownAttemptError } from './attempt-advice.ts';

test.each([
  ['CONNECTION_FAILED', 'CONNECTION_FAILED'],
  ['DNS_FAILED', 'DNS_FAILED'],
  ['PROTOCOL_ERROR', 'PROTOCOL_ERROR'],
  ['RENDERING_FAILED', 'RENDERING_FAILED'],
  ['TIMEOUT', 'TIMEOUT'],
  ['TLS_FAILED', 'TLS_FAILED'],
  // The URL itself is refused, whatever DNS says.
  ['URL_FORBIDDEN', 'ADDRESS_FORBIDDEN'],
  // Of a build that stored it for names with a private address.
  ['ADDRESS_FORBIDDEN', 'DNS_FAILED'],
  ['OF_A_NEWER_BUILD', 'PROTOCOL_ERROR'],
  ['constructor', 'PROTOCOL_ERROR'],
])('shows the stored error %s as %s', (stored, expected) => {
  expect(toShownAttemptError(stored)).toBe(expected);
});
