/** `pnpm dev` cannot start because of something outside it. The message tells the reader what to do. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError';
}
