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
 * Recognizes CSRF checks and logins by what they respond. Null for any other response, including that of a receiver which refuses, and in
 * doubt: advice about them replaces other advice.
 *
 * @param url of the request: what it contains itself is no sign of a login
 */
export function interceptorOf(url: URL, { status, header, body }: InterceptableResponse): Interceptor | null {
  const start = body.slice(0, 16_384);
  if (status === 419 || (csrfStatuses.has(status) && csrfSentence.test(start))) return 'CSRF_CHECK';
  if (status >= 300 && status < 400) return leadsToSignIn(url, header('location') ?? '') ? 'SIGN_IN' : null;
  if (status === 401 && loginScheme.test(header('www-authenticate') ?? '')) return 'SIGN_IN';
  const canBePage = (status >= 200 && status < 300) || status === 401 || status === 403;
  return canBePage && isSignInPage(header('content-type') ?? '', start) ? 'SIGN_IN' : null;
}

/** 419 is of Laravel only. */
const csrfStatuses: ReadonlySet<number> = new Set([400, 403, 422]);
/** Whole sentences: a receiver that refuses can name CSRF too, or quote the event. */
const csrfSentence = new RegExp(
  [
    'CSRF verification failed', // Django
    'InvalidAuthenticityToken|the change you wanted was rejected', // Rails
    'the CSRF (?:session )?tokens? (?:is missing|is invalid|has expired|do not match)', // Flask
    'invalid CSRF (?:\\(Cross Site Request Forgery\\) )?token|EBADCSRFTOKEN', // Express, Phoenix, Spring, Echo
    'could not verify the provided CSRF token', // Spring
    'CSRF token (?:mismatch|invalid|not found in request)', // Laravel, Gorilla
    'the (?:required |provided )?anti-?forgery (?:cookie|form|header|request|token)', // ASP.NET
    'cross-site POST form submissions are forbidden', // SvelteKit, Astro
    'cross-origin request detected', // Go
  ].join('|'),
  'i',
);

/** A receiver can demand another scheme, such as Bearer, when it refuses a signature. */
const loginScheme = /^(?:basic|digest|negotiate|ntlm)\b/i;
/** The end of a path. */
const signInPath =
  /(?:^|\/)(?:sign[-_]?in|(?:wp-)?log[-_]?[io]n|sso(?:-api)?|saml2?|authorize|sessions?\/new|openid-connect\/auth|oauth2?\/(?:v[\d.]+\/)?(?:auth|sign_in|start))(?:\.\w+)?$/;
const signInParameters = ['SAMLRequest', 'response_type'];
const returnParameters =
  'RelayState ReturnUrl callbackUrl continue next rd redirect redirect_to redirect_url returnTo return_to'.split(' ');

function leadsToSignIn(url: URL, location: string): boolean {
  if (!URL.canParse(location, url)) return false;
  const target = new URL(location, url);
  const [path, ownPath] = [endOf(target), endOf(url)];
  if (!/^https?:$/.test(target.protocol) || path === ownPath) return false;
  return (
    (signInPath.test(path) && !signInPath.test(ownPath)) ||
    signInParameters.some((name) => target.searchParams.has(name)) ||
    returnParameters.some((name) => leadsTo(url, target.searchParams.get(name)))
  );
}

/** The last segments of a path, in lower case. */
const endOf = ({ pathname }: URL): string => pathname.toLowerCase().split('/').filter(Boolean).slice(-3).join('/');

const leadsTo = (url: URL, text: string | null): boolean =>
  text !== null && URL.canParse(text, url) && endOf(new URL(text, url)) === endOf(url);

// The lengths are bounded, because the time for a hostile page would be quadratic otherwise.
const passwordField = /<input\b[^>]{1,500}?\btype=["']?password\b/i;
const signInTitle =
  /<title[^>]{0,100}>\s{0,100}(?:sign[ -]?in|log[ -]?[io]n)(?:\s{0,10}[^\w\s]| (?:form|page|required|to|with)\b)/i;

function isSignInPage(contentType: string, body: string): boolean {
  return /^text\/html\b/i.test(contentType) && (passwordField.test(body) || signInTitle.test(body));
}
