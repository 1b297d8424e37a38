import type { SnapshotSchema } from '@deedwire/core';
import type { Rendering } from './renderer.ts';

/**
 * The part of a snapshot's schema that a renderer reads, without the values that earlier builds did not append. It accepts values that an
 * enum does not list, unless the payload rejects them.
 *
 * @param sample a snapshot. A renderer reads the same properties of each.
 */
export function neededPart(
  { render, schema: data }: Rendering,
  sample: unknown,
  schema: SnapshotSchema,
): SnapshotSchema {
  const reads = new Set<string>();
  render(watched(sample, '', reads));
  const isOpen = (path: readonly string[]): boolean => {
    try {
      return data.safeParse(render(changed(sample, path, 'another value'))).success;
    } catch {
      return false;
    }
  };
  return partOf(schema, [], reads, isOpen);
}

/** A copy with another value at a path. */
function changed(value: unknown, [name, ...rest]: readonly string[], replacement: string): unknown {
  if (name === undefined) return replacement;
  return { ...Object(value), [name]: changed(Reflect.get(Object(value), name), rest, replacement) };
}

/** @param reads receives the paths of the properties that are read, for example `/order/id` */
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

/** @param isOpen whether the payload accepts any value in place of one that an enum lists */
function partOf(
  schema: SnapshotSchema,
  path: readonly string[],
  reads: ReadonlySet<string>,
  isOpen: (path: readonly string[]) => boolean,
): SnapshotSchema {
  const { enum: values, anyOf, properties = {}, ...rest } = schema;
  const open: SnapshotSchema = {
    ...rest,
    ...(values !== undefined && !isOpen(path) && { enum: values }),
    // The values of an enum that can be null.
    ...(anyOf !== undefined && {
      anyOf: anyOf.map((each) => (each.enum === undefined ? each : partOf(each, path, reads, isOpen))),
    }),
  };
  const isRead = (name: string): boolean => reads.has(`/${[...path, name].join('/')}`);
  const read = Object.entries(properties).flatMap(([name, property]): [string, SnapshotSchema][] =>
    isRead(name) ? [[name, partOf(property, [...path, name], reads, isOpen)]] : [],
  );
  // A value that is rendered as a whole is needed as a whole.
  if (read.length === 0) return schema.properties === undefined ? open : { ...open, properties };
  const needed = read.filter(([name]) => open.required?.includes(name));
  const required = open.required?.filter(isRead) ?? [];
  return { ...open, properties: Object.fromEntries(needed), required };
}
