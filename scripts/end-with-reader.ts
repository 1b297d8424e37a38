/** Exits with the code of SIGPIPE, which Node ignores, when the reader of the output, for example `head`, has ended. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(141));
}
