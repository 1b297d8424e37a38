/** A query's argument that cannot be right, whoever asks. The message is safe to show. */
export class InvalidArgumentError extends Error {
  readonly code = 'BAD_USER_INPUT';
  override readonly name = 'InvalidArgumentError';
}

/** Why an operator's request is refused. */
export type RefusalCode = 'NOT_FOUND' | 'INVALID' | 'CONFLICT' | 'LIMIT_REACHED';

/** An operator's request that cannot be carried out. Nothing has changed. The message is for the operator to read. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
