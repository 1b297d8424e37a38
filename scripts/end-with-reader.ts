/** Exits with the code of SIGPIPE, which Node ignores, when the reader of the output, for example `head`, has ended. */
export function endWithReader(): void {
  process.stdout.on('error', () => process.exit(141));
}
