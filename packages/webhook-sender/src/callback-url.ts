import { addressProblem, type CallbackRules } from './callback-rules.ts';
import { hostAddress } from './host-address.ts';
import { hostNameProblem } from './host-name.ts';

export type CallbackUrlCheck =
  | {
      ok: true;
      /** The normalized URL to store and to call. */
      href: string;
    }
  | {
      ok: false;
      code: 'CALLBACK_URL_FORBIDDEN' | 'CALLBACK_URL_INVALID';
      /** Safe to show to clients. */
      message: string;
    };

const maxUrlCharacters = 2048;
const firstUnprivilegedPort = 1024;

// Names that are never public (RFC 6761, RFC 6762, RFC 8375, ICANN's reservation of `.internal`). This check only reports
// the problem earlier and more clearly. The protection is the check of every resolved address.
const privateNamePattern = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Checks without DNS that a callback URL is well formed and allowed by the rules, and normalizes it. */
export function checkCallbackUrl(raw: string, rules: CallbackRules): CallbackUrlCheck {
  // The WHATWG URL parser removes tabs and newlines, trims, and treats `\` as `/`; other parsers do not.
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  if (/[\u0000-\u0020\u007f\\]/.test(raw)) {
    return invalid('The callback URL must not contain spaces, control characters or backslashes. Percent-encode them.');
  }
  if (raw.length > maxUrlCharacters) return tooLong(raw.length);
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(raw) ?? [];
  if (authority === undefined || !URL.canParse(raw)) {
    return invalid(
      'The callback URL is not an absolute HTTP or HTTPS URL. Use a URL such as https://example.com/webhooks.',
    );
  }
  // The parser drops an @ without a user name, and takes the last one of several; other parsers do not.
  if (authority.includes('@')) {
    return invalid(
      'The callback URL must not contain a user name or a password. Remove the @ and the text between // and the @.',
    );
  }
  const url = new URL(raw);
  // Percent-encoding can make the URL longer.
  if (url.href.length > maxUrlCharacters) return tooLong(url.href.length);
  if (url.href.includes('#')) {
    return invalid('The callback URL must not contain a fragment. Remove the # and the text after it.');
  }
  const address = hostAddress(url);
  const nameProblem = address === null ? hostNameProblem(url.hostname) : null;
  if (nameProblem !== null) return invalid(nameProblem);
  const problem = rulesProblem(url, address, rules);
  return problem === null
    ? { ok: true, href: url.href }
    : { ok: false, code: 'CALLBACK_URL_FORBIDDEN', message: problem };
}

function rulesProblem(url: URL, address: string | null, rules: CallbackRules): string | null {
  if (rules.policy === 'public') {
    if (url.protocol !== 'https:') return 'The callback URL starts with http://. Use https://.';
    if (url.port !== '' && Number(url.port) < firstUnprivilegedPort) {
      return `The callback URL has port ${url.port}. Use port 443, or a port from ${firstUnprivilegedPort} to 65535.`;
    }
    if (address === null && (privateNamePattern.test(url.hostname) || !url.hostname.includes('.'))) {
      return `The host name ${url.hostname} of the callback URL is not public. Use a name that resolves in public DNS.`;
    }
  }
  switch (address === null ? null : addressProblem(address, rules)) {
    case 'not public':
      return `The address ${address} of the callback URL is not public. Use a public host name or address.`;
    case 'denied':
      return `The operator denies the address ${address} of the callback URL. Use another host.`;
    case null:
      return null;
  }
}

function tooLong(characters: number): CallbackUrlCheck {
  return invalid(`The callback URL has ${characters} characters. The maximum is ${maxUrlCharacters}.`);
}

function invalid(message: string): CallbackUrlCheck {
  return { ok: false, code: 'CALLBACK_URL_INVALID', message };
}
