import { field } from '../field.ts';

const width = 80;

/**
 * Shows what could rewrite a terminal, or another text than the one that is there, as escapes of JSON, because parts of each text
 * are foreign. JSON stays the same document.
 */
export function terminalText(text: string): string {
  const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
  return text.replaceAll(invisible, (character) => character.replaceAll(/[^]/g, escaped));
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Breaks a text into lines of at most 80 columns. A longer word stays whole. */
export function wrap(text: string, indent = '', first: string = indent): string {
  const lines: string[] = [];
  let line = first;
  for (const word of terminalText(text).split(' ')) {
    const isStart = line === first || line === indent;
    if (!isStart && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line].map((each) => `${each}\n`).join('');
}

/** The beginning of a foreign text, for one line. */
export function excerpt(text: string, max = 60): string {
  const line = terminalText(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const codes = { red: 31, green: 32, yellow: 33 };

export type Color = keyof typeof codes;

export function colored(text: string, color: Color, hasColors: boolean): string {
  return hasColors ? `\u001B[${codes[color]}m${text}\u001B[39m` : text;
}

/** Undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Empty if it is no text. */
export function textField(value: unknown, name: string): string {
  const text = field(value, name);
  return typeof text === 'string' ? text : '';
}
