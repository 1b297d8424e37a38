import { changedPaths, isObject } from './changed-paths.ts';
import type { EventDefinition, RenderData } from './event.ts';

/**
 * Renders `changed` of an update as well: the paths of the members of `data` that the change replaced, sorted. Null if they are not known.
 *
 * The paths follow from the renderer: for each value that changed, it renders the snapshot once more with another value in its place, and
 * what then differs has changed. They are not known if the snapshot does not say what changed, or if the renderer reads a value that
 * changed and fails with the other one or renders the same. So a renderer must not render two values to the same: what a version shows of
 * a value, such as the domain of an address, is a value of the snapshot. A test compares the paths with what each renderer makes of the
 * snapshots before and after.
 */
export function withChanged<Snapshot extends { readonly changed?: readonly string[] }>(
  { sample }: Pick<EventDefinition<Snapshot>, 'sample'>,
  render: RenderData<Snapshot>,
): RenderData<Snapshot> {
  return (snapshot) => {
    const data = render(snapshot);
    const found = snapshot.changed?.map((path) => {
      let reads = 0;
      const other = withOther(snapshot, path, sample('service'), () => (reads += 1));
      const paths = differences(() => render(other), data);
      return paths.length > 0 || reads === 0 ? paths : null;
    });
    const isKnown = found?.every((paths) => paths !== null) === true;
    return { ...data, changed: isKnown ? [...new Set(found.flat())].toSorted() : null };
  };
}

/** None if the rendering fails, or if the results cannot be compared. */
function differences(render: () => object, data: object): string[] {
  try {
    return changedPaths(render(), data);
  } catch {
    return [];
  }
}

/** Copies what the path leads through without reading it, so that `neededPart` sees no more than the renderer reads. */
function withOther<Value extends object>(value: Value, path: string, sample: unknown, onRead: () => void): Value {
  const properties: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(value);
  const sampleOf = (name: string): unknown => (isObject(sample) ? sample[name] : undefined);
  const replaced: PropertyDescriptorMap = {};
  for (const [name, { value: inner, ...property }] of Object.entries(properties))
    if (path.startsWith(`${name}.`) && isObject(inner))
      replaced[name] = { ...property, value: withOther(inner, path.slice(name.length + 1), sampleOf(name), onRead) };
  // The change can also have removed the member.
  if (Object.hasOwn(properties, path) || Object.keys(replaced).length === 0) {
    const other = otherThan(properties[path]?.value, sampleOf(path));
    const get = (): unknown => {
      onRead();
      return other;
    };
    replaced[path] = { enumerable: true, get };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the same members
  return Object.defineProperties({}, { ...properties, ...replaced }) as Value;
}

/** Of the same type where the type has another value, because a renderer may call its methods. */
function otherThan(value: unknown, sampled: unknown): unknown {
  if (typeof value === 'string') return otherText(value);
  if (typeof value === 'number') return value === 0 ? 1 : 0;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return value.length === 0 ? sampled : [];
  // Null says nothing of the value before.
  return value === null || value === undefined ? sampled : null;
}

/** `Date` ignores what follows a time, so another time takes its place. */
function otherText(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\d(?:T.*Z)?$/.test(text) && !Number.isNaN(Date.parse(text));
  if (!isTime) return `${text}\0`;
  const other = text.startsWith('2001') ? '2004-05-06T07:08:09.123Z' : '2001-02-03T04:05:06.789Z';
  return text.includes('T') ? other : other.slice(0, 10);
}
