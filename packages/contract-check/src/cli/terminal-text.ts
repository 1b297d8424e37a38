/**
 * Control characters, those that change the direction of a text, and those that have no width: they could rewrite a terminal, or show
 * another text than the one that is there.
 */
export const invisibleCharacters: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Shows invisible characters as escapes of JSON, so JSON stays the same document. Whatever is written to a terminal passes this
 * function, because parts of it are foreign: a receiver chooses what it returns, and an account what it calls its clients.
 *
 * @param keepsLines keeps tabs and line feeds
 */
export function terminalText(text: string, { keepsLines = false }: { keepsLines?: boolean } = {}): string {
  return text.replaceAll(invisibleCharacters, (character) =>
    keepsLines && (character === '\n' || character === '\t') ? character : escaped(character),
  );
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
