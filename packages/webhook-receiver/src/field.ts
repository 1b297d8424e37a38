/** Undefined if the value is no object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Not by `instanceof`, which is false for an error of another realm, such as the one around a test runner's sandbox. */
export function messageOf(error: unknown): string {
  return String(field(error, 'message') ?? error);
}
