import { changedPaths } from './changed-paths.ts';
import type { RenderData } from './event.ts';

/**
 * Renders `changed` of an update as well: the paths of the members of `data` that the change replaced, sorted. Null if the snapshot does
 * not say what changed.
 *
 * The paths follow from the renderer: it renders the snapshot once more, with other values in place of those that changed, and what then
 * differs has changed. So a renderer must not render two values to the same: what a version shows of a value, such as the domain of an
 * address, is a value of the snapshot. A test compares the paths with what each renderer makes of the snapshots before and after.
 */
export function withChanged<Snapshot extends { readonly changed?: readonly string[] }>(
  render: RenderData<Snapshot>,
): RenderData<Snapshot> {
  return (snapshot) => {
    const data = render(snapshot);
    const { changed } = snapshot;
    if (changed === undefined) return { ...data, changed: null };
    return { ...data, changed: changedPaths(render(withOtherValues(snapshot, new Set(changed), '')), data) };
  };
}

/** Only replaces what is read, so that `neededPart` sees no more than the renderer reads. */
function withOtherValues<Value>(value: Value, replaced: ReadonlySet<string>, path: string): Value {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const property: unknown = Reflect.get(target, name, receiver);
      if (typeof name === 'symbol') return property;
      const at = path === '' ? name : `${path}.${name}`;
      return replaced.has(at) ? otherThan(property) : withOtherValues(property, replaced, at);
    },
  });
}

/** Of the same type where the type has another value, because a renderer may call its methods. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'string') return `${value}\0`;
  if (typeof value === 'number') return value === 0 ? 1 : 0;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return value.length === 0 ? [''] : [];
  return value === null ? '' : null;
}
