/** Compares the members of two contracts by name. */
export function compareMembers<T>(
  from: Iterable<readonly [name: string, T]>,
  to: Iterable<readonly [name: string, T]>,
  handle: {
    removed(name: string, item: T): void;
    added(name: string, item: T): void;
    kept(name: string, from: T, to: T): void;
  },
): void {
  const [before, now] = [new Map(from), new Map(to)];
  for (const [name, item] of before) {
    const counterpart = now.get(name);
    if (counterpart === undefined) handle.removed(name, item);
    else handle.kept(name, item, counterpart);
  }
  for (const [name, item] of now) if (!before.has(name)) handle.added(name, item);
}
