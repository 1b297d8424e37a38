import { terminalText } from '@deedwire/core';

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

/**
 * Calls a function with an exit code when standard output can no longer be written: 141 if its reader has gone, for example `head`, as
 * SIGPIPE would do, which Node ignores. Otherwise 1, and standard error says why.
 */
export function onOutputLost(listener: (exitCode: number) => void): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    // What an orderly stop prints must not interrupt it.
    process.stdout.on('error', () => {});
    if (code !== 'EPIPE') process.stderr.write(`The output cannot be written: ${message}\n`);
    listener(code === 'EPIPE' ? 141 : 1);
  });
}
