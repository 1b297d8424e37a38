/** What a delivery says of itself in headers that are not signed. The names follow the prefix and `-webhook-`. */
export interface EventHeaders {
  readonly event: string;
  readonly 'event-version': string;
  readonly 'subscription-id': string;
  readonly sequence: string;
  readonly attempt: string;
  readonly test?: 'true';
  readonly replay?: 'true';
}

/** Empty without a prefix. */
export function eventHeaders(prefix: string | undefined, values: EventHeaders): Record<string, string> {
  const named = Object.entries<string>({ ...values });
  return prefix === undefined ? {} : Object.fromEntries(named.map(([name, value]) => [nameOf(prefix, name), value]));
}

export function nameOf(prefix: string, name: string): string {
  return `${prefix.toLowerCase()}-webhook-${name}`;
}

/** Null for a prefix with which headers can be named. */
export function prefixProblem(prefix: string): string | null {
  return typeof prefix === 'string' && /^X-[A-Z][A-Za-z0-9]{0,31}$/.test(prefix)
    ? null
    : 'must be X- and a word that begins with a capital letter, for example X-Service.';
}
