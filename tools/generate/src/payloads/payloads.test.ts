import type { PayloadSchema } from '@deedwire/core/payload-fields';
import { hasPayloads, readLayout, readLayouts } from '@deedwire/layout';
import { copyShop } from '@deedwire/layout/shop';
import { expect, onTestFinished, test } from 'vitest';
import { writeGenerated } from '../generated.ts';
import { fileExists, readText } from '../workspace-files.ts';
import { composedPayloads } from './composed-payloads.ts';
import { areFixturesFrozen, derivedFixturesOf } from './derived-fixtures.ts';
import { readEventTypes } from './event-types.ts';
import { payloadFiles } from './payloads.ts';

const published = await Promise.all(
  (await readLayouts())
    .filter(hasPayloads)
    .map(async (layout) =>
      (await readEventTypes(layout)).flatMap(({ type, versions }) =>
        versions.map((version) => ({ folder: layout.payloads, type, ...version })),
      ),
    ),
);

test('the types and the parser of receivers leave out a retired version', async () => {
  const shop = copyShop();
  onTestFinished(shop.close);
  const layout = await readLayout(shop.folder);
  if (!hasPayloads(layout)) throw new Error('The shop has no payloads.');
  writeGenerated(composedPayloads(layout));
  const eventTypes = await readEventTypes(layout);
  const changed = eventTypes.map((eventType) => ({
    ...eventType,
    versions: eventType.versions.map((version) =>
      eventType.type === 'order.shipped' && version.version === '2026-11-01'
        ? { ...version, status: 'retired' as const }
        : version,
    ),
  }));
  const files = await payloadFiles(layout, changed, layout.interfaceNames);
  for (const path of ['src/generated/webhook-event.ts', 'src/generated/validators.ts']) {
    expect(files.get(path)).not.toContain('OrderShipped20261101');
    expect(files.get(path)).toContain('OrderShipped20270201');
  }
  expect(files.get('src/generated/validators.ts')).not.toContain('order.shipped/2026-11-01');
});

/** Without the optional fields that a fixture of a release lacks, because they were added later. */
function withoutAdded(body: unknown, stored: unknown, schema: PayloadSchema): unknown {
  const { properties = {}, required = [] } = schema;
  const found = new Map(Object.entries(Object(stored)));
  // A fixture has an array in place of an object.
  if (Array.isArray(body)) return body.map((item, index) => withoutAdded(item, found.get(String(index)), schema));
  if (typeof body !== 'object' || body === null) return body;
  const kept = Object.entries(body).filter(
    ([name]) => !Object.hasOwn(properties, name) || required.includes(name) || found.has(name),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [name, withoutAdded(value, found.get(name), properties[name] ?? {})]),
  );
}

/** A release names an event that does not exist by any type. */
function withOtherType(body: unknown, { type }: { type: string }): unknown {
  expect(published.flat().map((payload) => payload.type)).not.toContain(type);
  return { ...Object(body), type };
}

test.each(published.flat())(
  'the fixtures of $type at $version are those that its schema and its sample imply',
  (payload) => {
    const { folder, type, version } = payload;
    const { fixtures, stale } = derivedFixturesOf(folder, type, payload);
    const isFrozen = areFixturesFrozen(folder, type, version);
    expect(stale).toEqual([]);
    const present = [...fixtures].filter(([path]) => !isFrozen || fileExists(path));
    expect(present.length).toBeGreaterThan(15);
    for (const [path, body] of present) {
      const stored = JSON.parse(readText(path));
      const implied = isFrozen && path.endsWith('/other-event/another-type.json') ? withOtherType(body, stored) : body;
      const expected = isFrozen ? withoutAdded(implied, stored, payload.schema) : implied;
      expect({ path, stored }).toEqual({ path, stored: expected });
    }
  },
);
