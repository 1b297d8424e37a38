import { dirname, join, relative } from 'node:path';
import { workspaceRoot } from '../workspace-files.ts';

/** Returns the path of a file of the workspace as a page links to it. */
export type PathTo = (path: string) => string;

/**
 * @param reference the folder of the pages
 * @param page its path in this folder
 */
export function pathFrom(reference: string, page: string): PathTo {
  const folder = join(workspaceRoot, dirname(join(reference, page)));
  return (path) => relative(folder, join(workspaceRoot, path));
}
