import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface NamedPackage {
  /** Absolute path. */
  readonly folder: string;
  readonly name: string;
}

/** The nearest package with a name, from a folder upwards. Null if there is none. */
export function packageOf(start: string): NamedPackage | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const name = nameIn(join(folder, 'package.json'));
    if (name !== null) return { folder, name };
    if (folder === dirname(folder)) return null;
  }
}

function nameIn(manifest: string): string | null {
  try {
    const value: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    const named = typeof value === 'object' && value !== null && 'name' in value;
    return named && typeof value.name === 'string' ? value.name : null;
  } catch {
    // A missing or invalid package.json names no package.
    return null;
  }
}
