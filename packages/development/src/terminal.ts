import { terminalText } from '@deedwire/core';

/** Prints to standard output. Parts of the text can be foreign, so what could rewrite the terminal is shown as escapes. */
export function print(text: string): void {
  process.stdout.write(terminalText(text, { keepsLines: true }));
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
