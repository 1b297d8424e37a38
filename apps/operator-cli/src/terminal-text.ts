/**
 * Makes characters visible that could rewrite a terminal: control characters, and those that change the direction of a text. A
 * receiver chooses what it returns.
 *
 * @param keepsLines keeps tabs and line feeds
 */
export function terminalText(text: string, { keepsLines = false } = {}): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    keepsLines && (character === '\n' || character === '\t') ? character : escaped(character),
  );
}

/** JSON as one line. What `JSON.stringify` leaves of those characters is escaped too, so that the result is the same document. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
