/** Exits with the code of SIGPIPE, which Node ignores, when the reader of the output, for example `head`, has ended. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') process.exit(141);
      process.stderr.write(`The output cannot be written: ${message}\n`);
      process.exit(1);
    });
}
