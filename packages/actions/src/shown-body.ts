/** A response body as a client sees it: a text, or bytes in Base64. Both are null if it was not kept. */
export interface ShownBody {
  text: string | null;
  base64: string | null;
}

/**
 * Control characters other than tabs and line breaks, of which U+0085 is one. Texts rarely contain them, and JSON needs six bytes for most. A terminal takes
 * U+009B, for example, as the beginning of an escape sequence.
 */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const unusualCharacters = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F]/;

/**
 * A body is a text if it is UTF-8 without unusual control characters.
 *
 * @param isCut the body continues, so it can end within a character, which is left out
 */
export function toShownBody(body: Buffer | null, isCut: boolean): ShownBody {
  if (body === null) return { text: null, base64: null };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: isCut });
  } catch {
    return { text: null, base64: body.toString('base64') };
  }
  return unusualCharacters.test(text) ? { text: null, base64: body.toString('base64') } : { text, base64: null };
}
