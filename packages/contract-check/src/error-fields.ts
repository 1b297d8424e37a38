/**
 * A field of an error. Node throws the errors of its modules in its own realm: for them, `instanceof Error` is false in the sandbox
 * of a test runner.
 */
export function errorField(error: unknown, name: 'code' | 'message' | 'stdout'): string {
  return typeof error === 'object' && error !== null && name in error ? String(Reflect.get(error, name)) : '';
}

export function errorMessage(error: unknown): string {
  return errorField(error, 'message') || String(error);
}
