import { type Event, type SnapshotSchema, snapshotSchema } from '@deedwire/core';
import { describe, expect, test } from 'vitest';
import { neededPart } from '../src/needed-part.ts';
import { renderingsOf } from '../src/renderer.ts';

/** The fields of a snapshot that a schema lists. */
function only(value: unknown, schema: SnapshotSchema | undefined): unknown {
  if (schema?.properties === undefined || typeof value !== 'object' || value === null) return value;
  const { properties } = schema;
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(kept.map(([name, property]) => [name, only(property, properties[name])]));
}

/** The snapshot of a build that appends only what every build does. */
function withoutOptional(value: unknown, { properties = {}, required = [] }: SnapshotSchema): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([name]) => required.includes(name));
  return Object.fromEntries(kept.map(([name, property]) => [name, withoutOptional(property, properties[name] ?? {})]));
}

/** The value with null in each place where the schema allows it. */
function withNulls(value: unknown, { type, properties = {} }: SnapshotSchema): unknown {
  if (Array.isArray(type) && type.includes('null')) return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, property]) => [name, withNulls(property, properties[name] ?? {})]),
  );
}

/** The schema without one of its fields, once for each field at any depth. */
function withoutEach(schema: SnapshotSchema): SnapshotSchema[] {
  const { properties = {} } = schema;
  return Object.entries(properties).flatMap(([name, property]) => {
    const { [name]: _, ...others } = properties;
    const deeper = withoutEach(property).map((inner) => ({ ...schema, properties: { ...properties, [name]: inner } }));
    return [{ ...schema, properties: others }, ...deeper];
  });
}

/** For each version of each event. */
export function proveNeededParts(events: readonly Event[]): void {
  const renders = events.flatMap((event) => {
    const [sample, schema] = [event.sample('service'), snapshotSchema(event)];
    return renderingsOf(event).map((rendering) => ({
      ...rendering,
      data: rendering.schema,
      sample,
      schema,
      needs: neededPart(rendering, sample, schema),
    }));
  });
  describe.each(renders.map(({ type, version, ...rest }) => [type, version, rest] as const))(
    '%s at %s',
    (_type, _version, { render, data, sample, schema: whole, needs }) => {
      function isValid(rendered: () => unknown): boolean {
        try {
          return data.safeParse(rendered()).success;
        } catch {
          return false;
        }
      }

      test('renders the same from the part that it needs', () => {
        const appended = withoutOptional(sample, whole);
        for (const snapshot of [appended, withNulls(appended, whole)])
          expect(render(only(snapshot, needs))).toEqual(render(snapshot));
      });

      test('renders no valid payload without any field of this part', () => {
        const fewer = withoutEach(needs);
        expect(fewer).not.toEqual([]);
        for (const schema of fewer) {
          expect({ schema, isValid: isValid(() => render(only(sample, schema))) }).toEqual({
            schema,
            isValid: false,
          });
        }
      });
    },
  );
}
