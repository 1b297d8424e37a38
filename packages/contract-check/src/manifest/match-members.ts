/** Matches the members of two objects by name. An undefined object counts as empty. */
export function matchMembers<T>(
  from: Readonly<Record<string, T>> | undefined,
  to: Readonly<Record<string, T>> | undefined,
  handle: {
    removed(name: string, item: T): void;
    added(name: string, item: T): void;
    kept(name: string, from: T, to: T): void;
  },
  /** Returns the same key for names that clients do not distinguish. */
  keyOf: (name: string) => string = (name) => name,
): void {
  const before = new Map(Object.entries(from ?? {}).map(([name, item]) => [keyOf(name), { name, item }]));
  const now = new Map(Object.entries(to ?? {}).map(([name, item]) => [keyOf(name), { name, item }]));
  for (const [key, { name, item }] of before) {
    const counterpart = now.get(key);
    if (counterpart === undefined) handle.removed(name, item);
    else handle.kept(name, item, counterpart.item);
  }
  for (const [key, { name, item }] of now) if (!before.has(key)) handle.added(name, item);
}
