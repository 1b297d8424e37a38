import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface NamedPackage {
  /** Absolute path. */
  readonly folder: string;
  readonly name: string;
  readonly version: string | null;
}

/** The nearest package with a name, from a folder upwards. Null if there is none. */
export function packageOf(start: string): NamedPackage | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const { name, version } = manifestIn(join(folder, 'package.json'));
    if (name !== null) return { folder, name, version };
    if (folder === dirname(folder)) return null;
  }
}

function manifestIn(file: string): Record<'name' | 'version', string | null> {
  try {
    const { name, version }: Partial<Record<string, unknown>> = JSON.parse(readFileSync(file, 'utf8')) ?? {};
    return { name: typeof name === 'string' ? name : null, version: typeof version === 'string' ? version : null };
  } catch {
    // A missing or invalid package.json names no package.
    return { name: null, version: null };
  }
}
