/** An argument of a query is invalid for every caller. The message may be shown to clients. */
export class InvalidArgumentError extends Error {
  readonly code = 'BAD_USER_INPUT';
  override readonly name = 'InvalidArgumentError';
}

export type RefusedErrorCode = 'NOT_FOUND' | 'INVALID' | 'CONFLICT' | 'LIMIT_REACHED';

/** A request of an operator was rejected, and changed nothing unless the message says so. The message is for the operator. */
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

/** The user errors of every mutation that accepts an idempotency key. */
export const idempotencyErrorCodes = [
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_INVALID',
  'IDEMPOTENCY_KEY_REUSED',
] as const;

export type IdempotencyErrorCode = (typeof idempotencyErrorCodes)[number];

/** A user error about one field of `input`. */
export function inputError<Code extends string>(code: Code, field: string, message: string): UserError<Code> {
  return { code, message, field: ['input', field] };
}

/** What a mutation returns: its payload, or user errors and nulls in its place. */
export type MutationResult<Payload, Code extends string> = { [Name in keyof Payload]: Payload[Name] | null } & {
  userErrors: UserError<Code>[];
  /** Whether it is the result of an earlier request with the same idempotency key. */
  isRepeated?: boolean;
};

const refusedCodes: Readonly<Record<string, RefusedErrorCode>> = {
  DELIVERY_EXPIRED: 'CONFLICT',
  LIMIT_REACHED: 'LIMIT_REACHED',
  MAIL_UNAVAILABLE: 'CONFLICT',
  NOT_FOUND: 'NOT_FOUND',
  NOT_YET_AVAILABLE: 'CONFLICT',
  PAYLOAD_UNAVAILABLE: 'CONFLICT',
  RATE_LIMITED: 'LIMIT_REACHED',
  REPLAY_IN_PROGRESS: 'CONFLICT',
  RETRY_RATE_LIMITED: 'LIMIT_REACHED',
  ROTATION_IN_PROGRESS: 'CONFLICT',
  VERSION_RETIRED: 'CONFLICT',
};

/**
 * The result of a mutation that an operator runs.
 *
 * @throws {RefusedError} if it has user errors
 */
export function orRefuse<Result extends { userErrors: readonly UserError<string>[] }>(
  result: Result,
): Accepted<Result> {
  const { userErrors } = result;
  if (isAccepted(result)) return result;
  const codes = userErrors.map(({ code }) => refusedCodes[code] ?? 'INVALID');
  const code = codes.find((each) => each !== 'INVALID') ?? 'INVALID';
  throw new RefusedError(code, userErrors.map(({ message }) => message).join(' '));
}

function isAccepted<Result extends { userErrors: readonly unknown[] }>(
  result: Result,
): result is Result & Accepted<Result> {
  return result.userErrors.length === 0;
}

type Accepted<Result> = { [Name in keyof Result]: NonNullable<Result[Name]> };
