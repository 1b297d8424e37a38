/** Undefined if the value is no object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * Node gives no message to the error of a connection to a name whose addresses all failed: it has those of the addresses.
 *
 * Not by `instanceof`, which is false for an error of another realm, such as the one around a test runner's sandbox.
 */
export function messageOf(error: unknown): string {
  const message = field(error, 'message');
  const errors = field(error, 'errors');
  return message === '' && Array.isArray(errors) ? errors.map(messageOf).join('; ') : String(message ?? error);
}
