import type { RenderData, SnapshotSchema } from '@deedwire/core';

/**
 * The part of a snapshot's schema that a renderer reads, without the values that earlier builds did not append. It accepts values that an
 * enum does not list, because a payload may have new ones.
 *
 * @param sample a snapshot. A renderer reads the same properties of each.
 */
export function neededPart(render: RenderData<unknown>, sample: unknown, schema: SnapshotSchema): SnapshotSchema {
  const reads = new Set<string>();
  render(watched(sample, '', reads));
  return partOf(schema, '', reads);
}

/** @param reads receives the paths of the properties that are read, for example `/partner/id` */
function watched<Value>(value: Value, path: string, reads: Set<string>): Value {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const property: unknown = Reflect.get(target, name, receiver);
      if (typeof name === 'symbol') return property;
      reads.add(`${path}/${name}`);
      return watched(property, `${path}/${name}`, reads);
    },
  });
}

function partOf(schema: SnapshotSchema, path: string, reads: ReadonlySet<string>): SnapshotSchema {
  const { enum: _values, properties = {}, ...open } = schema;
  const read = Object.entries(properties).flatMap(([name, property]): [string, SnapshotSchema][] =>
    reads.has(`${path}/${name}`) ? [[name, partOf(property, `${path}/${name}`, reads)]] : [],
  );
  // A value that is rendered as a whole is needed as a whole.
  if (read.length === 0) return schema.properties === undefined ? open : { ...open, properties };
  const needed = read.filter(([name]) => open.required?.includes(name));
  const required = open.required?.filter((name) => reads.has(`${path}/${name}`)) ?? [];
  return { ...open, properties: Object.fromEntries(needed), required };
}
