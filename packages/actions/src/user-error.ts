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
