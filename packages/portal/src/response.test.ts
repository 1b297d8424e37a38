import { expect, test } from 'vitest';
import { refusalIn, type Success } from './response.ts';

const [html, json, plain] = ['text/html; charset=utf-8', 'application/json', 'text/plain'];
const webPage = 'Something between this page and Deedwire answered with a web page';
const mayBe = 'Something between this page and Deedwire may have sent it.';
const form = 'has another form than those of Deedwire.';

const session = {
  id: 'gid://service/PortalSession/1',
  interface: 'customer',
  account: { id: 'gid://service/Customer/1', name: 'Customer' },
  abilities: ['READ'],
  actor: 'user-7',
  returnUrl: null,
  subscriptionId: null,
  idleSeconds: 1800,
};

function refusalOf(success: Success, status: number, text: string, type = json) {
  // A response with 204 has no body.
  return refusalIn(new Response(text || null, { status, headers: { 'Content-Type': type } }), text, success);
}

test.each([
  [200, html, '<h1>Sign in</h1>', `${webPage} (status 200).`],
  [401, html, '<h1>Sign in</h1>', `${webPage} (status 401).`],
  [403, html, '<h1>Sign in</h1>', `${webPage} (status 403).`],
  [502, plain, 'Bad gateway', `The response (status 502) is not JSON. ${mayBe}`],
  [200, json, '{"data":{', `The response (status 200) is not JSON. ${mayBe}`],
  [200, json, '', `The response (status 200) is empty. ${mayBe}`],
  [204, json, '', `The response (status 204) is empty. ${mayBe}`],
])('a response with %i, %s and "%s" is not of Deedwire', (status, type, text, message) => {
  const refusal = refusalOf('result', status, text, type);
  expect(refusal).toEqual({ code: `HTTP_${status}`, message, ...(type === html && { isPage: true }) });
});

const errorWith = (message: unknown, extensions: unknown) => ({ errors: [{ message, extensions }] });

test.each<[Success, unknown]>([
  ['result', { message: 'Unauthorized' }],
  ['result', { errors: 'no' }],
  ['result', { data: { a: 1 }, errors: [null] }],
  ['result', errorWith('No.', undefined)],
  ['result', errorWith('No.', null)],
  ['result', errorWith('No.', { code: { a: 1 } })],
  ['result', errorWith(null, { code: 'A' })],
  ['result', errorWith({ a: 1 }, { code: 'A' })],
  ['result', session],
  ['result', { data: null }],
  ['result', { data: [] }],
  ['result', { data: {} }],
  ['result', []],
  ['result', null],
  ['session', { data: { a: 1 } }],
  ['session', { ...session, id: 1 }],
  ['session', { ...session, account: null }],
  ['session', { ...session, account: { ...session.account, name: null } }],
  ['session', { ...session, abilities: null }],
  ['session', { ...session, abilities: [{}] }],
  ['session', { ...session, actor: undefined }],
  ['session', { ...session, returnUrl: {} }],
  ['session', { ...session, subscriptionId: 1 }],
  ['session', { ...session, documentationUrl: [] }],
  ['session', { ...session, idleSeconds: undefined }],
  ['session', { ...session, expiresInSeconds: 'x' }],
  ['session', { ...session, expiresInSeconds: 1e300 }],
  ['nothing', session],
])('a response with 200 to a request for a %s has another form: %j', (success, body) => {
  const message = `The response (status 200) ${form} ${mayBe}`;
  expect(refusalOf(success, 200, JSON.stringify(body))).toEqual({ code: 'HTTP_200', message });
});

test('of an error of Deedwire, its message, code and request id are shown, and nothing else is taken', () => {
  const extensions = { code: 'A', requestId: 'request-1', status: 0, leftMs: 1, isPage: true };
  const refusal = refusalOf('result', 500, JSON.stringify({ errors: [{ message: 'No.', extensions }] }));
  expect(refusal).toEqual({ code: 'A', message: 'No.', requestId: 'request-1' });
  const other = refusalOf('result', 500, JSON.stringify(errorWith('No.', { code: 'A', requestId: {} })));
  expect(other).toEqual({ code: 'A', message: 'No.' });
});

test.each<[Success, number, string]>([
  ['result', 200, '{"data":{"webhookDelivery":null}}'],
  ['session', 200, JSON.stringify(session)],
  ['session', 200, JSON.stringify({ ...session, idleEndsInSeconds: 0, expiresInSeconds: 28_800, returnUrl: 'a' })],
  ['nothing', 204, ''],
])('a response to a request for a %s with %i and "%s" is a success', (success, status, text) => {
  expect(refusalOf(success, status, text)).toBeNull();
});
