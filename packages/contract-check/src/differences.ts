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

/** The elements of the first set that are not in the second, sorted. */
export function onlyIn(set: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...set].filter((value) => !other.has(value)).toSorted();
}

/** Describes a value that was added, removed or changed. Null when there is no value. */
export function describeDifference(subject: string, from: string | null, to: string | null): string {
  if (from === null) return `${subject} was added: ${to}.`;
  if (to === null) return `${subject} was removed. It was ${from}.`;
  return `${subject} changed from ${from} to ${to}.`;
}
