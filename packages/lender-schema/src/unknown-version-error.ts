/** There is no such version of this interface. */
export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError';
  readonly code = 'UNKNOWN_VERSION';
  /** The versions that there are, oldest first. */
  readonly supported: readonly string[];

  constructor(version: string, supported: readonly string[]) {
    super(`the lender interface has no version ${JSON.stringify(version)}; it has ${supported.join(', ')}`);
    this.supported = supported;
  }
}
