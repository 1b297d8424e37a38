import { field } from '../field.ts';
import { terminalText } from './terminal-text.ts';

const width = 80;

/** Breaks a text into lines of at most 80 columns. A longer word stays whole. */
export function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of terminalText(text).split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}${each}\n`).join('');
}

/** The beginning of a foreign text, for one line. */
export function excerpt(text: string, max = 60): string {
  const line = terminalText(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** `1 event`, `2 events`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export type Color = 'green' | 'red' | 'yellow';

const codes: Readonly<Record<Color, number>> = { red: 31, green: 32, yellow: 33 };

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
