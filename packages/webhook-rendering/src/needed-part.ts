import type { SnapshotSchema } from '@deedwire/domain';
import type { RenderData } from './render-data.ts';

/** The properties that were read, and what was read of each. Empty if nothing of it was read. */
type Reads = Map<string, Reads>;

/**
 * The part of a snapshot's schema that a renderer reads. It accepts values that an enum does not list, because a payload may have
 * new ones.
 *
 * @param sample a snapshot. A renderer reads the same properties of each.
 */
export function neededPart(render: RenderData<unknown>, sample: unknown, schema: SnapshotSchema): SnapshotSchema {
  const reads: Reads = new Map();
  render(watched(sample, reads));
  return partOf(schema, reads);
}

function watched<Value>(value: Value, reads: Reads): Value {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const property: unknown = Reflect.get(target, name, receiver);
      if (typeof name === 'symbol') return property;
      const inner: Reads = reads.get(name) ?? new Map();
      reads.set(name, inner);
      return watched(property, inner);
    },
  });
}

function partOf(schema: SnapshotSchema, reads: Reads): SnapshotSchema {
  const { enum: _values, ...open } = schema;
  // A value that is rendered as a whole is needed as a whole.
  if (reads.size === 0 || open.properties === undefined) return open;
  const read = Object.entries(open.properties).filter(([name]) => reads.has(name));
  return {
    ...open,
    properties: Object.fromEntries(
      read.map(([name, property]) => [name, partOf(property, reads.get(name) ?? new Map())]),
    ),
    required: open.required?.filter((name) => reads.has(name)) ?? [],
  };
}
