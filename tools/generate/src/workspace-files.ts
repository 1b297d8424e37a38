import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const workspaceRoot = join(import.meta.dirname, '../../..');

/** @param path path relative to the workspace root */
export function readText(path: string): string {
  return readFileSync(join(workspaceRoot, path), 'utf8');
}

/** @param path path relative to the workspace root */
export function fileExists(path: string): boolean {
  return existsSync(join(workspaceRoot, path));
}

/** Paths relative to the workspace root, sorted. */
export function findFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: workspaceRoot, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(workspaceRoot, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Paths relative to the workspace root, sorted. Empty if there is no such folder. */
export function filesBelow(folder: string): string[] {
  return findFiles(`${folder}/**`);
}
