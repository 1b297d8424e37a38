export type Mark = 'ADDED' | 'REMOVED' | 'CHANGED' | 'SAME';

export interface Difference {
  /** For example `data.order.id`. */
  readonly path: string;
  readonly mark: Mark;
  /** As JSON. Null where there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The values of two payloads, by their paths: those of `before` in their order, then those that only `after` has. */
export function differencesOf(before: string, after: string): Difference[] {
  const [olds, news] = [before, after].map((json) => leavesOf(valueOf(json)));
  return [...new Set([...(olds?.keys() ?? []), ...(news?.keys() ?? [])])].map((path) => {
    const [one, other] = [olds?.get(path) ?? null, news?.get(path) ?? null];
    const changed = one === other ? 'SAME' : 'CHANGED';
    return { path, mark: one === null ? 'ADDED' : other === null ? 'REMOVED' : changed, before: one, after: other };
  });
}

/** A text that is not JSON is a value. */
function valueOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** By path. An empty object or list is a value. */
function leavesOf(value: unknown, path = '', leaves = new Map<string, string>()): Map<string, string> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  for (const [name, each] of entries)
    leavesOf(each, Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, leaves);
  if (entries.length === 0) leaves.set(path, JSON.stringify(value));
  return leaves;
}
