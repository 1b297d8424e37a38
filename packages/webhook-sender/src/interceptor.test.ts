import { cpuMsOf } from '@deedwire/testing';
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
  ['ASP.NET Core', { status: 400, body: 'The required antiforgery request token was not provided in either form' }],
  ['SvelteKit and Astro', { status: 403, body: 'Cross-site POST form submissions are forbidden' }],
  ['Go', { status: 403, body: 'cross-origin request detected from Sec-Fetch-Site header' }],
  ['Gorilla', { status: 403, body: 'Forbidden - CSRF token not found in request' }],
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
  ['a version', redirect('https://id.example/a/oauth2/v2.0/authorize?client_id=b')],
  ['a session', redirect('/session/new')],
  ['a request of OpenID Connect', redirect('https://id.example/?response_type=code&client_id=b')],
  ['a request of SAML', redirect('https://id.example/a?SAMLRequest=fZ')],
  ['the path to which it returns', redirect('https://team.example/access/api.example.com?redirect_url=%2Fwebhooks')],
])('recognizes a redirect to a login by %s', (_, response) => {
  expect(interceptorOf(url, asRead(response))).toBe('SIGN_IN');
});

test.each<[string, Response]>([
  ['a form', page(200, '<form><input name="p" class="a" type="password"></form>')],
  ['a title', page(200, '<html><head><title data-a>Sign in · Example</title>')],
  ['a title with more', page(200, '<title>\n  Log in to Example</title>')],
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
  ['one that names CSRF', { status: 403, headers: json, body: '{"error":"signature invalid. CSRF is exempt"}' }],
  ['one that validates a field', { status: 422, headers: json, body: '{"errors":{"csrf (optional)":"no"}}' }],
  ['one that quotes an event', { status: 400, headers: json, body: '{"error":"cross-site request forgery case"}' }],
  ['one that shows where it failed', page(400, '<pre>File "decorators/csrf.py", line 3, in csrf (wrapped)')],
  ['one that demands a scheme', { status: 401, headers: { ...json, 'www-authenticate': 'Bearer realm="webhook"' } }],
  ['a page that begins with another word', page(200, '<title>Received: log on disk</title>')],
  ['a page that begins with a similar word', page(200, '<title>Log on disk: written</title>')],
  ['a refusal of a company', page(403, '<title>403 Forbidden - Login Systems GmbH</title>')],
  ['a page about logins that is no response of one', page(404, '<title>Log in</title>')],
  ['JSON about a page', { status: 200, headers: json, body: '<title>Log in</title>' }],
  ['a redirect to HTTPS', redirect('https://api.example.com/webhooks', 308)],
  ['a redirect to a slash', redirect('/webhooks/', 308)],
  ['a redirect to another word', redirect('/blog/signing', 301)],
  ['a redirect to a host for accounts', redirect('https://accounts.example.com/webhooks', 301)],
  ['a redirect to another path there', redirect('https://accounts.example.com/hooks', 301)],
  ['a redirect to a path below a login', redirect('/oauth2/hook', 301)],
  ['a redirect to a page of a list', redirect('/hooks?next=2', 301)],
  ['a redirect to a script', redirect('javascript:/login')],
  ['a redirect to an invalid URL', redirect('https://')],
  ['a redirect without a location', { status: 302 }],
])('takes %s for the receiver', (_, response) => {
  expect(interceptorOf(url, asRead(response))).toBeNull();
});

test.each([
  ['http://login.example.com/oauth2/hooks', 'https://login.example.com/oauth2/hooks/'],
  ['https://example.com/hooks', 'https://accounts.example.com/hooks'],
  ['https://auth.example.com/hooks', 'https://auth.example.com:8443/hooks'],
  ['https://example.com/Login', '/login/'],
  ['https://example.com/v1/login', '/v2/login'],
  ['http://example.com/hooks?next=/hooks', 'https://example.com/hooks?next=/hooks'],
])('what %s contains itself is no sign of a login: %s', (own, location) => {
  expect(interceptorOf(new URL(own), asRead(redirect(location, 308)))).toBeNull();
});

test('a hostile page takes no time', () => {
  const cpuMs = cpuMsOf(() => {
    for (const part of ['<input ', '<title', '<title>log ', '<input type='])
      expect(interceptorOf(url, asRead(page(200, part.repeat(1_000_000 / part.length))))).toBeNull();
  });
  expect(cpuMs).toBeLessThan(5_000);
});
