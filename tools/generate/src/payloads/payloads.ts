import type { Generated } from '../generated.ts';
import { areFixturesFrozen, derivedFixturesOf } from './derived-fixtures.ts';
import { readEventTypes } from './event-types.ts';
import { payloadFiles } from './payload-files.ts';

const folder = 'packages/webhook-events';

/** The published files of `webhook-events`, and the derived fixtures of versions that are not released. */
export async function payloads(): Promise<Generated> {
  const eventTypes = await readEventTypes();
  const generated = await payloadFiles(eventTypes);
  const files = new Map(Array.from(generated, ([path, text]) => [`${folder}/${path}`, text]));
  const derived = eventTypes.flatMap(({ type, versions }) =>
    versions
      .filter(({ version }) => !areFixturesFrozen(type, version))
      .map((version) =>
        derivedFixturesOf(
          type,
          version,
          JSON.parse(generated.get(`json-schema/${type}/${version.version}.json`) ?? ''),
        ),
      ),
  );
  for (const [path, fixture] of derived.flatMap(({ fixtures }) => [...fixtures]))
    files.set(path, `${JSON.stringify(fixture, null, 2)}\n`);
  return {
    files,
    folders: ['asyncapi', 'json-schema', 'src/generated', 'test/generated'].map((path) => `${folder}/${path}`),
    stale: derived.flatMap(({ stale }) => stale),
  };
}
