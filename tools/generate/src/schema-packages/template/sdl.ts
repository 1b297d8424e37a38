import { UnknownVersionError } from './unknown-version-error.ts';

const sdlByVersion: ReadonlyMap<string, string> = new Map([
  // VERSIONS
]);

/**
 * The SDL of a version, byte for byte as in its `.graphql` file.
 *
 * @throws {UnknownVersionError} when the interface has no such version
 */
export function sdl(version: string): string {
  const text = sdlByVersion.get(version);
  if (text === undefined) throw new UnknownVersionError(version, [...sdlByVersion.keys()]);
  return text;
}
