const descriptions = {
  CSRF_CHECK:
    'A CSRF check refused the request. Exempt this path from CSRF checks: its requests are authenticated by their signature.',
  SIGN_IN:
    'A login protects the URL. Let requests to this path through without a login: their signature authenticates them.',
} as const;

/** What responded in place of the receiver. The codes are stored, so their meaning does not change. */
export type Interceptor = keyof typeof descriptions;

export function isInterceptor(code: string): code is Interceptor {
  return Object.hasOwn(descriptions, code);
}

/** Says what happened and what the owner of the receiver can do. */
export function describeInterceptor(interceptor: Interceptor): string {
  return descriptions[interceptor];
}

export interface InterceptableResponse {
  readonly status: number;
  /** The value of a header with a lower-case name. Null without it. */
  readonly header: (name: string) => string | null;
  /** The beginning. Empty if it is not known. */
  readonly body: string;
}

/**
 * Recognizes CSRF checks and logins by what they respond. Null for any other response, also that of a receiver which refuses.
 *
 * @param url of the request: a word that it contains itself is no sign of a login
 */
export function interceptorOf(url: URL, { status, header, body }: InterceptableResponse): Interceptor | null {
  const start = body.slice(0, 16_384);
  if (status === 419 || (csrfStatuses.has(status) && csrfText.test(start))) return 'CSRF_CHECK';
  if (status >= 300 && status < 400) return leadsToSignIn(url, header('location') ?? '') ? 'SIGN_IN' : null;
  if (status === 401 && loginScheme.test(header('www-authenticate') ?? '')) return 'SIGN_IN';
  const canBePage = (status >= 200 && status < 300) || status === 401 || status === 403;
  return canBePage && isSignInPage(header('content-type') ?? '', start) ? 'SIGN_IN' : null;
}

/** 419 is of Laravel only. */
const csrfStatuses: ReadonlySet<number> = new Set([400, 403, 422]);
/** Sentences of Django, Rails, Phoenix, Spring and others. A page of any kind can have `csrf-token` in its head. */
const csrfText =
  /\b[cx]srf[ (]|cross[- ]site request forgery|InvalidAuthenticityToken|the change you wanted was rejected|anti-?forgery (?:cookie|form|token)/i;

const loginScheme = /^(?:basic|bearer|digest|negotiate|ntlm)\b/i;
const signInSegment =
  /^(?:sign[-_]?in|(?:wp-)?log[-_]?[io]n|sso(?:-api)?|saml2?|oauth2?|authorize|openid-connect)(?:\.\w+)?$/i;
const signInHost = /^(?:sign-?in|log-?[io]n|sso|auth|oauth2?|accounts?|idp)\./i;

function leadsToSignIn(url: URL, location: string): boolean {
  if (!URL.canParse(location, url)) return false;
  const target = new URL(location, url);
  const own = url.pathname.split('/');
  return (
    (target.host !== url.host && signInHost.test(target.host)) ||
    target.pathname.split('/').some((segment) => signInSegment.test(segment) && !own.includes(segment))
  );
}

// The lengths are bounded, because the time for a hostile page would be quadratic otherwise.
const passwordField = /<input\b[^>]{1,500}?\btype=["']?password\b/i;
const signInTitle = /<title[^>]{0,100}>[^<]{0,100}\b(?:sign[ -]?in|log[ -]?[io]n)\b/i;

function isSignInPage(contentType: string, body: string): boolean {
  return /^text\/html\b/i.test(contentType) && (passwordField.test(body) || signInTitle.test(body));
}
