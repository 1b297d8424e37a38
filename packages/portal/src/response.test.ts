import { expect, test } from 'vitest';
import { refusalIn } from './response.ts';

const [html, json, plain] = ['text/html; charset=utf-8', 'application/json', 'text/plain'];
const webPage = 'Something between this page and Deedwire answered with a web page';
const mayBe = 'Something between this page and Deedwire may have sent it.';
const form = 'has another form than those of Deedwire.';

test.each([
  [200, html, '<h1>Sign in</h1>', `${webPage} (status 200).`],
  [401, html, '<h1>Sign in</h1>', `${webPage} (status 401).`],
  [403, html, '<h1>Sign in</h1>', `${webPage} (status 403).`],
  [502, plain, 'Bad gateway', `The response (status 502) is not JSON. ${mayBe}`],
  [200, json, '{"data":{', `The response (status 200) is not JSON. ${mayBe}`],
  [200, json, '', `The response (status 200) is empty. ${mayBe}`],
  [401, json, '{"message":"Unauthorized"}', `The response (status 401) ${form} ${mayBe}`],
  [200, json, '{"errors":"no"}', `The response (status 200) ${form} ${mayBe}`],
])('a response with %i, %s and "%s" is not of Deedwire', (status, type, text, message) => {
  const refusal = refusalIn(new Response(text, { status, headers: { 'Content-Type': type } }), text);
  expect(refusal).toEqual({ code: `HTTP_${status}`, message, ...(type === html && { isPage: true }) });
});

test('an error of Deedwire is shown as it is', () => {
  const error = { message: 'No.', extensions: { code: 'A', requestId: 'request-1' } };
  const refusal = refusalIn(new Response(null, { status: 500 }), JSON.stringify({ errors: [error] }));
  expect(refusal).toEqual({ code: 'A', message: 'No.', requestId: 'request-1' });
});

test.each([
  [200, '{"data":null}'],
  [200, '{"id":"gid://service/PortalSession/1"}'],
  [204, ''],
])('a response with %i and "%s" is a success', (status, text) => {
  expect(refusalIn(new Response(null, { status }), text)).toBeNull();
});
