/** A reason, foreseen in the contract, why a mutation did nothing. */
export interface UserError<Code extends string> {
  code: Code;
  /** For people. Safe to show. */
  message: string;
  /** The path of the input field at fault, for example `['input', 'callbackUrl']`. Null when no single field is. */
  field: string[] | null;
}

/** A user error about one field of `input`. */
export function inputError<Code extends string>(code: Code, field: string, message: string): UserError<Code> {
  return { code, message, field: ['input', field] };
}
