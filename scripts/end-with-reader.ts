/** Ends a script quietly when nobody reads its output any longer, for example `head`, with the code of SIGPIPE, which Node ignores. */
export function endWithReader(): void {
  process.stdout.on('error', () => process.exit(141));
}
