/** The INTERFACE interface has no such version. */
export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError';
  readonly code = 'UNKNOWN_VERSION';
  /** Every version of the interface, oldest first. */
  readonly supported: readonly string[];

  constructor(version: string, supported: readonly string[]) {
    super(`The INTERFACE interface has no version ${JSON.stringify(version)}. Use one of: ${supported.join(', ')}.`);
    this.supported = supported;
  }
}
