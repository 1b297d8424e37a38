import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { requestPath } from './request-path.ts';

test.each([
  ['/lenders/graphql', '/lenders/graphql'],
  ['/ready?verbose=1', '/ready'],
  ['/?a=/b', '/'],
  ['/ready#fragment', '/ready'],
  ['http://example.test/lenders/graphql?x', '/lenders/graphql'],
  ['HTTPS://example.test:443', '/'],
  ['//example.test/lenders/graphql', '//example.test/lenders/graphql'],
  ['/lenders//graphql', '/lenders//graphql'],
  ['/x/../lenders/graphql', '/x/../lenders/graphql'],
  ['*', '*'],
])('reads the path of %s', (url, path) => {
  const request = new IncomingMessage(new Socket());
  request.url = url;
  expect(requestPath(request)).toBe(path);
});
