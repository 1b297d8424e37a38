/** A version is not cut, or not published; the message says why and what to do. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}
