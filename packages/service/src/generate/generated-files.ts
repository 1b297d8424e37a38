import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, ServiceError } from '@deedwire/core';
import { addToCommonSdl, type Written } from '@deedwire/graphql-server/compose-sdl';
import { messageOf } from '@deedwire/store';
import { buildSchema } from 'graphql';
import { readCommonSdl } from '../common-half.ts';
import type { ServedVersion } from '../define-service.ts';

/**
 * What is composed of the application's half of each version and its edition: the SDL and, in TypeScript, its types.
 *
 * @param folder that of the service
 * @returns path in the folder → text
 * @throws {ServiceError} if the SDL of the application is missing or wrong
 */
export async function generatedFiles(
  service: Service,
  folder: string,
  isTypeScript: boolean,
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, { versions }] of Object.entries(service.interfaces)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
    for (const { version, edition, serve, status } of versions as readonly ServedVersion[]) {
      if (serve === undefined || status === 'retired') continue;
      const own = readOwn(folder, `${name}/own/${version}.graphql`);
      const sdl = compose(own, service, { name, version, edition });
      files.set(`${name}/${version}.graphql`, sdl);
      if (!isTypeScript) continue;
      // Only this needs the library.
      const { ownTypes } = await import('./own-types.ts');
      files.set(`${name}/generated/${version}.ts`, await ownTypes(own.text, sdl));
    }
  }
  return files;
}

/** @throws {ServiceError} */
function readOwn(folder: string, path: string): Written {
  const file = join(folder, path);
  if (!existsSync(file))
    throw new ServiceError([
      `${file} is missing: the version has \`serve\`, so its types and root fields belong there.`,
    ]);
  return { path, text: readFileSync(file, 'utf8') };
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
  try {
    const sdl = addToCommonSdl(firstLine, own, common);
    buildSchema(sdl);
    return sdl;
  } catch (error) {
    throw new ServiceError([messageOf(error)]);
  }
}
