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

export function noSuchSubscription(gid: string): RefusedError {
  return new RefusedError('NOT_FOUND', `The subscription ${gid} does not exist.`);
}

/** A documented reason why a mutation changed nothing. */
export interface UserError<Code extends string> {
  code: Code;
  /** In plain language. May be shown to clients. */
  message: string;
  /** The path of the invalid input field, for example `['input', 'callbackUrl']`. Null if no single field is invalid. */
  field: string[] | null;
}

/** A user error about one field of `input`. */
export function inputError<Code extends string>(code: Code, field: string, message: string): UserError<Code> {
  return { code, message, field: ['input', field] };
}
