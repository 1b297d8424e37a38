import { dirname, join, resolve } from 'node:path';
import { readJsonObject } from './loose-json.ts';

export interface NamedPackage {
  /** Absolute path. */
  readonly folder: string;
  readonly name: string;
  readonly version: string | null;
}

/** The nearest package with a name, from a folder upwards. Null if there is none. */
export function packageOf(start: string): NamedPackage | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const { name, version } = readJsonObject(join(folder, 'package.json'));
    if (typeof name === 'string') return { folder, name, version: typeof version === 'string' ? version : null };
    if (folder === dirname(folder)) return null;
  }
}
