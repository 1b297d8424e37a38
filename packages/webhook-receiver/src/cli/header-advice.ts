import type { RequestHeader } from './header-option.ts';
import type { Answer } from './send.ts';

/** Schemes whose header differs in each request. */
const challengeScheme = /^(?:digest|negotiate|ntlm)\b/i;

/** What gateways respond to a request without their key, and some to one without a token. The lengths are bounded for hostile pages. */
const keySentence = new RegExp(
  [
    String.raw`\b(?:missing|no|invalid|incorrect|without)\b[^.<>{}\n]{0,30}\b(?:api|subscription|access)[ _-]?key\b`,
    String.raw`\b(?:api|subscription|access)[ _-]?key\b[^.<>{}\n]{0,30}\b(?:missing|required|invalid|not found)\b`,
    String.raw`\b(?:missing|no) authorization header\b`,
  ].join('|'),
  'i',
);

function asksForHeader({ status, headers, body }: Answer): boolean {
  if (status !== 401 && status !== 403) return false;
  const { 'www-authenticate': scheme = '', 'x-amzn-errortype': errorType = '' } = headers;
  if (status === 401 && scheme !== '') return !challengeScheme.test(scheme);
  // Of API Gateway, without its key.
  if (status === 403 && /^ForbiddenException\b/.test(String(errorType))) return true;
  return keySentence.test(body.slice(0, 16_384));
}

/**
 * What to do with a response that asks for a header, as a gateway does in front of a receiver. Null for any other response.
 *
 * @param sent the header of the request
 */
export function headerAdvice(answer: Answer, sent: RequestHeader | undefined): string | null {
  if (!asksForHeader(answer)) return null;
  return sent === undefined
    ? 'If a gateway requires a header, pass it here with --header, and to the subscription as requestHeader.'
    : `If a gateway responds, it refuses the value of ${sent.name}, or requires another header.`;
}
