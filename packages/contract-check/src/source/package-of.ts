import { join, resolve } from 'node:path';
import { foldersAround } from './folders-around.ts';
import { readJsonObject } from './loose-json.ts';

export interface NamedPackage {
  /** Absolute path. */
  readonly folder: string;
  readonly name: string;
  readonly version: string | null;
}

/** The nearest package with a name, from a folder upwards. Null if there is none. */
export function packageOf(start: string): NamedPackage | null {
  for (const folder of foldersAround(resolve(start))) {
    const { name, version } = readJsonObject(join(folder, 'package.json'));
    if (typeof name === 'string') return { folder, name, version: typeof version === 'string' ? version : null };
  }
  return null;
}
