/** There is no such version of this interface. */
export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError';
  readonly code = 'UNKNOWN_VERSION';
  /** The versions that there are, oldest first. */
  readonly supported: readonly string[];

  constructor(version: string, supported: readonly string[]) {
    super(`The partner interface has no version ${JSON.stringify(version)}. It has ${supported.join(', ')}.`);
    this.supported = supported;
  }
}
