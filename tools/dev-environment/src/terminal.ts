import { print } from '@deedwire/development';

/** Prints prose in lines of at most 60 columns. */
export function note(text: string, indent = '    '): void {
  const lines = text.match(/\S{56,}|.{1,56}(?=\s|$)/g) ?? [];
  print(lines.map((line, index) => `${index === 0 ? indent : '    '}${line.trim()}\n`).join(''));
}

/** Prints a request or a response, whole. */
export function printMessage(firstLine: string, headers: object = {}, body = ''): void {
  const lines = [...Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`), ...body.split('\n')];
  print(`    ${firstLine}\n${lines.map((each) => (each === '' ? '' : `      ${each}\n`)).join('')}`);
}
