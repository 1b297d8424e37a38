import { describe, expect, test } from 'vitest';
import { readCredentials } from './credentials.ts';

const complete = ['X-Service-Client-Id', 'client-1', 'x-service-api-key', 'key', 'X-SERVICE-ORGANIZATION-ID', 'org-1'];
const withHeader = (name: string, value: string) =>
  complete.flatMap((item, i) => (item === name ? [item, value] : i > 0 && complete[i - 1] === name ? [] : [item]));

describe('readCredentials', () => {
  test('finds the three headers in any case and position', () => {
    expect(readCredentials(['constructor', '', '__proto__', '', ...complete, 'Accept', '*/*'])).toEqual({
      clientId: 'client-1',
      apiKey: 'key',
      organizationId: 'org-1',
    });
  });

  test.each([
    ['no headers', []],
    ['a missing client id', complete.slice(2)],
    ['a missing organization', complete.slice(0, 4)],
    ['an empty key', withHeader('x-service-api-key', '')],
    ['a space in a value', withHeader('x-service-api-key', 'a b')],
    ['two values joined by a proxy', withHeader('x-service-api-key', 'a,b')],
    ['a non-ASCII character', withHeader('X-Service-Client-Id', 'clïent')],
    ['a value that is too long', withHeader('X-Service-Client-Id', 'a'.repeat(129))],
    ['a repeated key', [...complete, 'X-Service-API-Key', 'key']],
    ['a second organization', [...complete, 'x-service-organization-id', 'org-2']],
  ])('returns null for %s', (_, rawHeaders) => {
    expect(readCredentials(rawHeaders)).toBeNull();
  });
});
