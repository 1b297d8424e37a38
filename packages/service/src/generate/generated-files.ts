import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isOwnEventType, type Service, ServiceError, type VersionLifecycle } from '@deedwire/core';
import { openSchemaOf } from '@deedwire/core/payload-fields';
import { addToCommonSdl, type Written } from '@deedwire/graphql-server/compose-sdl';
import { messageOf } from '@deedwire/store';
import { buildSchema, validateSchema } from 'graphql';
import { readCommonSdl } from '../common-half.ts';
import type { ServedVersion } from '../define-service.ts';

export interface GeneratedFile {
  readonly text: string;
  /** What customers rely on, for messages: `order.paid at 2026-11-01`. Null: it can change. */
  readonly promised: string | null;
}

/**
 * What is composed of the application's half of each version and its edition: the SDL and, in TypeScript, its types. And the JSON Schema of
 * each payload of its events, and the status of each version.
 *
 * @param folder that of the service
 * @returns by path in the folder
 * @throws {ServiceError} if the SDL of the application is missing or wrong
 */
export async function generatedFiles(
  service: Service,
  folder: string,
  isTypeScript: boolean,
): Promise<Map<string, GeneratedFile>> {
  const files = new Map([...payloadFiles(service), ...statusFiles(service)]);
  for (const [name, { versions }] of Object.entries(service.interfaces)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
    for (const { version, edition, serve, status } of versions as readonly ServedVersion[]) {
      if (serve === undefined || status === 'retired') continue;
      const own = readOwn(folder, `${name}/own/${version}.graphql`);
      const sdl = compose(own, service, { name, version, edition });
      files.set(`${name}/${version}.graphql`, { text: sdl, promised: null });
      if (!isTypeScript) continue;
      // Only this needs the library.
      const { ownTypes } = await import('./own-types.ts');
      files.set(`${name}/generated/${version}.ts`, { text: await ownTypes(own.text, sdl), promised: null });
    }
  }
  return files;
}

/** A preview can change. */
function payloadFiles({ events }: Service): Map<string, GeneratedFile> {
  const ofApplication = events.filter(({ type }) => !isOwnEventType(type));
  const payloads = ofApplication.flatMap(({ type, versions }) =>
    versions
      .filter(({ status }) => status !== 'retired')
      .map(({ version, status, data }): [string, GeneratedFile] => [
        `events/${type}/${version}.json`,
        {
          text: `${JSON.stringify(openSchemaOf(data), null, 2)}\n`,
          promised: status === 'preview' ? null : `${type} at ${version}`,
        },
      ]),
  );
  return new Map(payloads);
}

/** By what `contract-check` knows which versions of a release must not break. */
function statusFiles({ interfaces, events }: Service): [string, GeneratedFile][] {
  const ofApplication = events.filter(({ type }) => !isOwnEventType(type));
  const states = new Map<string, object>(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
    Object.entries(interfaces).map(([name, { versions }]) => [name, statesOf(versions as readonly ServedVersion[])]),
  );
  // An interface can have the name of the folder.
  if (ofApplication.length > 0)
    states.set('events', {
      ...states.get('events'),
      ...Object.fromEntries(ofApplication.map(({ type, versions }) => [type, statesOf(versions)])),
    });
  return [...states].map(([folder, state]) => [
    `${folder}/versions.json`,
    { text: `${JSON.stringify(state, null, 2)}\n`, promised: null },
  ]);
}

interface Dated extends VersionLifecycle {
  readonly version: string;
  readonly deprecatedOn: string | null;
}

function statesOf(versions: readonly Dated[]): object {
  return Object.fromEntries(
    versions.map(({ version, status, deprecatedOn, sunsetOn }) => [version, { status, deprecatedOn, sunsetOn }]),
  );
}

/** @throws {ServiceError} */
function readOwn(folder: string, path: string): Written {
  const file = join(folder, path);
  if (!existsSync(file))
    throw new ServiceError([
      `${file} is missing: the version has \`serve\`, so its types and root fields belong there.`,
    ]);
  return { path: relative(process.cwd(), file), text: readFileSync(file, 'utf8') };
}

/** @throws {ServiceError} */
function compose(
  own: Written,
  { names }: Service,
  { name, version, edition }: Record<'edition' | 'name' | 'version', string>,
) {
  const common = { path: `edition ${edition}`, text: readCommonSdl(edition, names.headerPrefix) };
  const sources = `own/${version}.graphql and edition ${edition}`;
  const firstLine = `# The ${name} interface at version ${version}, composed by \`deedwire generate\` of ${sources}.`;
  let sdl: string;
  try {
    sdl = addToCommonSdl(firstLine, own, common);
  } catch (error) {
    throw new ServiceError([messageOf(error)]);
  }
  const problems = problemsIn(sdl);
  // The edition has none.
  if (problems.length > 0) throw new ServiceError(problems.map((problem) => `${own.path}: ${problem}`));
  return sdl;
}

function problemsIn(sdl: string): readonly string[] {
  try {
    return validateSchema(buildSchema(sdl)).map(({ message }) => message);
  } catch (error) {
    // `buildSchema` joins the messages of what it finds.
    return messageOf(error).split('\n\n');
  }
}
