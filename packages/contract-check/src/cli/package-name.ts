import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The name in the nearest `package.json` that has one, from the folder of the file upwards. Null if there is none. */
export function packageNameOf(file: string): string | null {
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    const name = nameIn(join(folder, 'package.json'));
    if (name !== null || folder === dirname(folder)) return name;
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
