import { describe, expect, test } from 'vitest';
import { readCredentials } from './credentials.ts';

const complete = ['X-Service-Client-Id', 'client-1', 'x-service-api-key', 'key', 'X-SERVICE-ORGANIZATION-ID', 'org-1'];
const withHeader = (name: string, value: string) =>
  complete.flatMap((item, i) => (item === name ? [item, value] : i > 0 && complete[i - 1] === name ? [] : [item]));

describe('readCredentials', () => {
  test('finds the three headers whatever their case and place', () => {
    expect(readCredentials(['constructor', '', '__proto__', '', ...complete, 'Accept', '*/*'])).toEqual({
      clientId: 'client-1',
      apiKey: 'key',
      organizationId: 'org-1',
    });
  });

  test.each([
    ['no header at all', []],
    ['a missing client id', complete.slice(2)],
    ['a missing organization', complete.slice(0, 4)],
    ['an empty key', withHeader('x-service-api-key', '')],
    ['a space inside', withHeader('x-service-api-key', 'a b')],
    ['two values joined by a proxy', withHeader('x-service-api-key', 'a,b')],
    ['a character beyond ASCII', withHeader('X-Service-Client-Id', 'clïent')],
    ['a value that is too long', withHeader('X-Service-Client-Id', 'a'.repeat(129))],
    ['the same key twice', [...complete, 'X-Service-API-Key', 'key']],
    ['another organization beside the right one', [...complete, 'x-service-organization-id', 'org-2']],
  ])('%s is no credentials', (_, rawHeaders) => {
    expect(readCredentials(rawHeaders)).toBeNull();
  });
});
