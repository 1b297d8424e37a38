/** A version cannot be cut or published. The message states the reason and the remedy. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}
