import { expect, test } from 'vitest';
import { firstLineOf } from './first-line.ts';

const response = { responseStatus: 503, responseHeaders: [], responseBody: null, responseBytes: 0 };
const login = [{ name: 'location', value: 'https://a.example/login' }];
const html = [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }];

test.each([
  [
    'a text',
    { responseBody: '\n  upstream connect error\nreset' },
    'The endpoint responded:',
    'upstream connect error reset',
  ],
  [
    'JSON with line breaks',
    { responseBody: '{\n  "code": "BUSY"\n}\n' },
    'The endpoint responded:',
    '{ "code": "BUSY" }',
  ],
  [
    'a page',
    { responseHeaders: html, responseBody: '<!doctype html>\n<title>502</title>' },
    'The endpoint returned a web page:',
    '<!doctype html> <title>502</title>',
  ],
  [
    'a redirect',
    { responseStatus: 307, responseHeaders: login, responseBody: 'Found' },
    'The endpoint redirects to',
    'https://a.example/login',
  ],
  [
    'a location of another status',
    { responseHeaders: login, responseBody: 'Unavailable' },
    'The endpoint responded:',
    'Unavailable',
  ],
  ['no body', { responseBody: '' }, 'The response has no text.', ''],
  ['no body that was kept', {}, 'The response has no text.', ''],
  ['bytes', { responseBytes: 9 }, 'The body of the response is not text, or was not kept.', ''],
  ['a long text', { responseBody: 'x'.repeat(201) }, 'The endpoint responded:', `${'x'.repeat(200)}…`],
  ['half a character', { responseBody: `${'x'.repeat(199)}😀` }, 'The endpoint responded:', `${'x'.repeat(199)}…`],
])('shows %s on one line', (_, changes, about, text) => {
  expect(firstLineOf({ ...response, ...changes })).toEqual({ about, text });
});
