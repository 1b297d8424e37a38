/**
 * Exits when the output can no longer be written: with 141, the code of SIGPIPE, which Node ignores, if its reader has ended, for example
 * `head`, otherwise with 74, that of an input or output error, because 1 says what a command found.
 */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') process.exit(141);
      process.stderr.write(`The output cannot be written: ${message}\n`);
      process.exit(74);
    });
}
