import { dirname } from 'node:path';

/** A folder and the folders around it, the innermost first. The last one is the root or, of a relative path, `.`. */
export function foldersAround(folder: string): string[] {
  const around = dirname(folder);
  return around === folder ? [folder] : [folder, ...foldersAround(around)];
}
