/** An argument of a query is invalid for every caller. The message may be shown to clients. */
export class InvalidArgumentError extends Error {
  readonly code = 'BAD_USER_INPUT';
  override readonly name = 'InvalidArgumentError';
}

export type RefusedErrorCode = 'NOT_FOUND' | 'INVALID' | 'CONFLICT' | 'LIMIT_REACHED';

/** A request of an operator was rejected and changed nothing. The message is for the operator. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: RefusedErrorCode;

  constructor(code: RefusedErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
