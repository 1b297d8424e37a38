import { terminalText } from '@deedwire/domain';

/** Prints to standard output. Parts of the text can be foreign, so what could rewrite the terminal is shown as escapes. */
export function print(text: string): void {
  process.stdout.write(terminalText(text, { keepsLines: true }));
}

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

/** Prints to standard error, as `print` does, and ends the process. */
export function fail(text: string, exitCode: number): void {
  process.stderr.write(terminalText(`${text}\n`, { keepsLines: true }), () => process.exit(exitCode));
}

/** Calls a function once the reader of standard output has closed it, for example because `head` has its lines. */
export function onReaderGone(listener: () => void): void {
  process.stdout.on('error', listener);
}

/** The exit code of a process that SIGPIPE ended. Node ignores this signal. */
export const readerGoneExitCode = 141;
