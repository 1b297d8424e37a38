import { expect, test } from 'vitest';
import { type InterceptableResponse, interceptorOf } from './interceptor.ts';

const url = new URL('https://api.example.com/webhooks');

interface Response {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const asRead = ({ status, headers = {}, body = '' }: Response): InterceptableResponse => ({
  status,
  header: (name) => headers[name] ?? null,
  body,
});

const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };
const page = (status: number, body: string): Response => ({ status, headers: html, body: `<!DOCTYPE html>${body}` });
const redirect = (location: string, status = 302): Response => ({ status, headers: { location } });

test.each<[string, Response]>([
  ['Laravel', page(419, '<title>Page Expired</title>')],
  ['Laravel without a body', { status: 419 }],
  ['Django', page(403, '<h1>Forbidden</h1>\n<p>CSRF verification failed. Request aborted.</p>')],
  ['Rails in development', page(422, '<h1>ActionController::InvalidAuthenticityToken in WebhooksController</h1>')],
  ['Rails in production', page(422, '<title>The change you wanted was rejected (422)</title>')],
  ['Express', { status: 403, headers: html, body: '<pre>ForbiddenError: invalid csrf token<br>' }],
  ['Flask', page(400, '<title>400 Bad Request</title><p>The CSRF token is missing.</p>')],
  ['Phoenix', { status: 403, body: 'invalid CSRF (Cross Site Request Forgery) token, please make sure that: *' }],
  ['Spring', { status: 403, headers: json, body: `{"message":"Could not verify the provided CSRF token"}` }],
  ['ASP.NET', { status: 400, body: 'The required anti-forgery cookie "x" is not present.' }],
])('recognizes the CSRF check of %s', (_, response) => {
  expect(interceptorOf(url, asRead(response))).toBe('CSRF_CHECK');
});

test.each<[string, Response]>([
  ['a path', redirect('/sign-in?redirect_url=%2Fwebhooks', 307)],
  ['a path of Rails', redirect('https://api.example.com/users/sign_in')],
  ['a path with an extension', redirect('/wp-login.php', 301)],
  ['a path with a language', redirect('/de/Login/', 303)],
  ['a host', redirect('https://login.example.com/oauth2/start?rd=https%3A%2F%2Fapi.example.com')],
  ['a host with nothing else', redirect('//auth.example.com/?rd=https%3A%2F%2Fapi.example.com%2Fwebhooks')],
  ['an identity provider', redirect('https://id.example/realms/a/protocol/openid-connect/auth?client_id=b')],
])('recognizes a redirect to a login by %s', (_, response) => {
  expect(interceptorOf(url, asRead(response))).toBe('SIGN_IN');
});

test.each<[string, Response]>([
  ['a form', page(200, '<form><input name="p" class="a" type="password"></form>')],
  ['a title', page(200, '<html><head><title data-a>Sign in · Example</title>')],
  ['a title with 403', page(403, '<title>Log in</title>')],
  ['a challenge', { status: 401, headers: { 'www-authenticate': 'Basic realm="staging"' } }],
])('recognizes a login by %s', (_, response) => {
  expect(interceptorOf(url, asRead(response))).toBe('SIGN_IN');
});

test.each<[string, Response]>([
  ['a receiver that acknowledges', { status: 200, headers: json, body: '{"ok":true}' }],
  ['a receiver that refuses', { status: 401, headers: json, body: '{"code":"SIGNATURE_MISMATCH"}' }],
  ['a firewall', page(403, '<title>Attention Required!</title>')],
  ['a page of an app with CSRF checks', page(403, '<meta name="csrf-token" content="a"><title>Forbidden</title>')],
  ['a receiver that does not know a field', { status: 422, headers: json, body: '{"error":"unknown field"}' }],
  ['a page about logins that is no response of one', page(404, '<title>Log in</title>')],
  ['JSON about a page', { status: 200, headers: json, body: '<title>Log in</title>' }],
  ['a redirect to HTTPS', redirect('https://api.example.com/webhooks', 308)],
  ['a redirect to a slash', redirect('/webhooks/', 308)],
  ['a redirect to another word', redirect('/blog/signing', 301)],
  ['a redirect to an invalid URL', redirect('https://')],
  ['a redirect without a location', { status: 302 }],
])('takes %s for the receiver', (_, response) => {
  expect(interceptorOf(url, asRead(response))).toBeNull();
});

test('a word that the callback URL contains is no sign of a login', () => {
  const own = new URL('http://login.example.com/oauth2/hooks');
  expect(interceptorOf(own, asRead(redirect('https://login.example.com/oauth2/hooks/')))).toBeNull();
});

test('a hostile page takes no time', () => {
  const startMs = performance.now();
  for (const part of ['<input ', '<title', '<title>log ', '<input type=']) {
    expect(interceptorOf(url, asRead(page(200, part.repeat(1_000_000 / part.length))))).toBeNull();
  }
  expect(performance.now() - startMs).toBeLessThan(5_000);
});
