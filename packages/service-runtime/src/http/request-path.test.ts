import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { requestPath } from './request-path.ts';

test.each([
  ['/suppliers/graphql', '/suppliers/graphql'],
  ['/ready?verbose=1', '/ready'],
  ['/?a=/b', '/'],
  ['/ready#fragment', '/ready'],
  ['http://example.test/suppliers/graphql?x', '/suppliers/graphql'],
  ['HTTPS://example.test:443', '/'],
  ['//example.test/suppliers/graphql', '//example.test/suppliers/graphql'],
  ['/suppliers//graphql', '/suppliers//graphql'],
  ['/x/../suppliers/graphql', '/x/../suppliers/graphql'],
  ['*', '*'],
])('reads the path of %s', (url, path) => {
  const request = new IncomingMessage(new Socket());
  request.url = url;
  expect(requestPath(request)).toBe(path);
});
