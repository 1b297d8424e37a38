import { isPublicAddress } from './address-guard.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { hostAddress } from './host-address.ts';

export type CallbackUrlCheck =
  | { ok: true; /** The one spelling to store and to call. */ href: string }
  | { ok: false; code: 'CALLBACK_URL_FORBIDDEN' | 'CALLBACK_URL_INVALID'; /** Safe to show. */ message: string };

const maxUrlCharacters = 2048;
const maxHostCharacters = 253;
const firstUnprivilegedPort = 1024;

// They cannot name a public host (RFC 6761, RFC 6762, RFC 8375, ICANN's reservation of `.internal`). Not the guard:
// every address is vetted when it is known. This only tells sooner and better.
const privateNamePattern = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Whether a callback URL is well formed and allowed, as far as that can be told without asking DNS. */
export function checkCallbackUrl(raw: string, policy: CallbackPolicy): CallbackUrlCheck {
  // The URL parser drops tabs and newlines, trims, and takes `\` for `/`; other parsers do not.
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u0020\u007f\\]/.test(raw)) {
    return invalid('The callback URL must not contain spaces, control characters or backslashes.');
  }
  if (raw.length > maxUrlCharacters) return tooLong();
  if (!/^https?:\/\//i.test(raw) || !URL.canParse(raw)) {
    return invalid('The callback URL is not an absolute URL such as https://example.com/webhooks.');
  }
  const url = new URL(raw);
  // Percent-encoding may have made it longer.
  if (url.href.length > maxUrlCharacters) return tooLong();
  if (url.username !== '' || url.password !== '') return invalid('The callback URL must not contain user information.');
  if (url.href.includes('#')) return invalid('The callback URL must not contain a fragment (#).');
  if (url.hostname.length > maxHostCharacters) {
    return invalid(`The host of the callback URL is longer than ${maxHostCharacters} characters.`);
  }
  if (url.hostname.endsWith('.')) return invalid('The host of the callback URL must not end with a dot.');
  const refusal = policy === 'public' ? publicRefusal(url) : null;
  return refusal === null
    ? { ok: true, href: url.href }
    : { ok: false, code: 'CALLBACK_URL_FORBIDDEN', message: refusal };
}

function publicRefusal(url: URL): string | null {
  if (url.protocol !== 'https:') return 'The callback URL must start with https://.';
  if (url.port !== '' && Number(url.port) < firstUnprivilegedPort) {
    return `The port of the callback URL must be 443, or ${firstUnprivilegedPort} or higher.`;
  }
  const address = hostAddress(url);
  if (address === null) {
    return privateNamePattern.test(url.hostname) || !url.hostname.includes('.')
      ? 'The host of the callback URL is not a public name.'
      : null;
  }
  return isPublicAddress(address) ? null : 'The host of the callback URL is not a public address.';
}

function tooLong(): CallbackUrlCheck {
  return invalid(`The callback URL is longer than ${maxUrlCharacters} characters.`);
}

function invalid(message: string): CallbackUrlCheck {
  return { ok: false, code: 'CALLBACK_URL_INVALID', message };
}
