import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program on the PATH that has one of these names. Undefined if there is none. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
}
