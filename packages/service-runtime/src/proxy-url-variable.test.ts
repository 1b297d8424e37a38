import { expect, test } from 'vitest';
import { unreadableUrl } from './config-variables.ts';
import { proxyUrlVariable } from './proxy-url-variable.ts';

test.each([
  'http://proxy.example:3128',
  'http://proxy.example:3128/',
  'https://[2001:db8::7]',
  'http://egress:p%40ss%3A%25@10.0.0.1:3128',
])('accepts %s', (text) => {
  expect(proxyUrlVariable().parse(text)).toEqual(new URL(text));
});

test.each([
  ['proxy.example:3128', 'must be a URL that begins with http:// or https://'],
  ['10.0.0.1:3128', 'must be a URL that begins with http:// or https://'],
  ['socks5://egress:hunter2@proxy.example', 'must be a URL that begins with http:// or https://'],
  ['"http://proxy.example:3128"', 'must not be in quotes'],
  ['http://', unreadableUrl],
  ['http://egress:hunter2@proxy.example:99999', unreadableUrl],
  ['http://egress:hunter#2@proxy.example', unreadableUrl],
  ['http://proxy.example/hunter2', 'must contain a host and a port only, with or without credentials'],
  ['http://proxy.example?hunter2', 'must contain a host and a port only, with or without credentials'],
  ['http://egress:hunter%@proxy.example', 'must have percent-encoded credentials; a % in them is %25'],
  ['http://a%3Ab:hunter2@proxy.example', 'must have a user name without a colon'],
])('rejects %s, without its text', (text, problem) => {
  expect(
    proxyUrlVariable()
      .safeParse(text)
      .error?.issues.map(({ message }) => message),
  ).toEqual([problem]);
});
