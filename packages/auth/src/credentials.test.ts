import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { testService } from '@deedwire/core/test-service';
import { describe, expect, test } from 'vitest';
import { areWellFormed, readCredentials } from './credentials.ts';

const complete = ['X-Service-Client-Id', 'client-1', 'x-service-api-key', 'key', 'X-SERVICE-ORGANIZATION-ID', 'org-1'];
const withHeader = (name: string, value: string) =>
  complete.flatMap((item, i) => (item === name ? [item, value] : i > 0 && complete[i - 1] === name ? [] : [item]));

/** Reads what Node makes of headers. */
function read(rawHeaders: readonly string[]) {
  const request = new IncomingMessage(new Socket());
  // What its parser calls.
  Object.assign(request, { rawHeaders });
  const add: unknown = Reflect.get(request, '_addHeaderLine');
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (typeof add === 'function') add.call(request, rawHeaders[index], rawHeaders[index + 1], headers);
  const credentials = readCredentials(testService, headers);
  return credentials && areWellFormed(credentials) ? credentials : null;
}

describe('readCredentials', () => {
  test('reads the headers that the service names', () => {
    const other = { names: { ...testService.names, headerPrefix: 'X-Other' } } as const;
    const headers = { 'x-other-client-id': 'client-1', 'x-other-api-key': 'key', 'x-other-organization-id': 'org-1' };
    expect(readCredentials(other, headers)).toEqual({ clientId: 'client-1', apiKey: 'key', organizationId: 'org-1' });
    expect(readCredentials(testService, headers)).toBeNull();
  });

  test('finds the three headers in any case and position', () => {
    expect(read(['constructor', '', '__proto__', '', ...complete, 'Accept', '*/*'])).toEqual({
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
    ['an empty second key', [...complete, 'X-Service-API-Key', '']],
    ['an empty first key', ['X-Service-API-Key', '', ...complete]],
    ['a second organization', [...complete, 'x-service-organization-id', 'org-2']],
  ])('returns null for %s', (_, rawHeaders) => {
    expect(read(rawHeaders)).toBeNull();
  });
});
