import { extname } from 'node:path';

const script = /^\.[cm]?[jt]s$/;

// A regular expression can contain quotes, so it is recognized too: where an expression can begin.
const tokens =
  /\/\/[^\n]*|\/\*[^]*?\*\/|(?<=[(,=:[!&|?{};>]\s?)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`/g;

/**
 * The prose of a file, with the line breaks of the file: of a script its comments and the strings with a space, of Markdown all but code,
 * and of any other file everything.
 *
 * @param path decides the language
 */
export function proseOf(path: string, text: string): string {
  const extension = extname(path);
  if (extension === '.md')
    return text.replaceAll(/^```.*?^```$/gms, (block) => lineBreaksOf(block)).replaceAll(/`[^`\n]*`/g, '``');
  return script.test(extension) ? proseOfScript(text) : text;
}

function proseOfScript(text: string): string {
  let prose = '';
  let end = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    prose += lineBreaksOf(text.slice(end, index)) + (isProse(token) ? token : lineBreaksOf(token));
    end = index + token.length;
  }
  return prose + lineBreaksOf(text.slice(end));
}

function isProse(token: string): boolean {
  return /^\/[/*]/.test(token) || (!token.startsWith('/') && token.includes(' '));
}

function lineBreaksOf(text: string): string {
  return text.replaceAll(/[^\n]+/g, ' ');
}
