import { describe, expect, it } from 'vitest';
import { defineService } from './define-service.ts';
import {
  describeRequestHeaderNames,
  describeRequestHeaderValue,
  isRequestHeaderName,
  isRequestHeaderValue,
  originOf,
} from './request-header.ts';

const service = defineService({
  names: {
    service: 'test_service',
    gidNamespace: 'service',
    apiKeyPrefix: 'dw',
    headerPrefix: 'X-Service',
    userAgent: 'Deedwire-Webhooks',
  },
  interfaces: { customer: { title: 'Customer', account: 'Customer' } },
});

describe('isRequestHeaderName', () => {
  it.each([
    'Authorization',
    'authorization',
    'X-API-Key',
    'x-a',
    'X-Gateway_Token',
    'X-1',
    'X-Forwardedness',
    'X-Servicing',
    `X-${'a'.repeat(98)}`,
  ])('accepts %s', (name) => {
    expect(isRequestHeaderName(service, name)).toBe(true);
  });

  it.each([
    '',
    'X-',
    'X--a',
    'X_a',
    'API-Key',
    'Authorization ',
    'Authorization:',
    'Proxy-Authorization',
    'Host',
    'Cookie',
    'Connection',
    'Transfer-Encoding',
    'Content-Type',
    'User-Agent',
    'webhook-id',
    'X-Forwarded',
    'X-Forwarded-For',
    'x-FORWARDED-host',
    'X-Forwarded_For',
    'X-Service_API-Key',
    'x-service_',
    'X-Service-API-Key',
    'x-service-webhook-signature',
    'X-Service',
    'X-Forwarded_For',
    'X-Forwarded_',
    'x-service_webhook_signature',
    'X-Service_Webhook-Timestamp',
    'X-a b',
    'X-a\r\nHost',
    'X-ä',
    `X-${'a'.repeat(99)}`,
  ])('refuses %j', (name) => {
    expect(isRequestHeaderName(service, name)).toBe(false);
  });
});

describe('isRequestHeaderValue', () => {
  it.each(['a', 'Bearer abc', 'Basic dXNlcjpwYXNz', 'a  b', '"\\/~!', 'a'.repeat(4_096)])('accepts %s', (value) => {
    expect(isRequestHeaderValue(value)).toBe(true);
  });

  it.each([
    ['', 'This one is empty.'],
    [' a', 'This one begins or ends with a space.'],
    ['a ', 'This one begins or ends with a space.'],
    ['a\tb', 'This one contains U+0009.'],
    ['a\r\nHost: b', 'This one contains U+000D.'],
    ['a\0', 'This one contains U+0000.'],
    ['a\u007f', 'This one contains U+007F.'],
    ['ä', 'This one contains U+00E4.'],
    ['a\u{1f600}', 'This one contains U+1F600.'],
    ['a'.repeat(4_097), 'This one has 4,097 characters.'],
  ])('refuses %j', (value, problem) => {
    expect(isRequestHeaderValue(value)).toBe(false);
    expect(describeRequestHeaderValue(value)).toBe(
      `The value of a request header has 1 to 4,096 printable ASCII characters, and spaces between them. ${problem}`,
    );
  });
});

it('says which names are allowed', () => {
  expect(describeRequestHeaderNames(service)).toBe(
    'A request header is `Authorization`, or `X-` followed by letters, digits, `-` and `_`, with at most 100 characters. It does not begin with `X-Forwarded-` or `X-Service-`, even with `_` in place of `-`.',
  );
});

it.each([
  ['https://a.example/hook?b=c', 'https://a.example'],
  ['https://A.example:443/', 'https://a.example'],
  ['https://a.example:8443/', 'https://a.example:8443'],
  ['http://a.example/', 'http://a.example'],
  ['https://[2001:DB8::1]/', 'https://[2001:db8::1]'],
  ['https://a.example./', 'https://a.example.'],
  ['', null],
  ['a.example', null],
])('the origin of %s is %s', (url, origin) => {
  expect(originOf(url)).toBe(origin);
});
