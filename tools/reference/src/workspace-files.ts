import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const workspaceRoot = join(import.meta.dirname, '../../..');

/** @param path path relative to the workspace root */
export function readText(path: string): string {
  return readFileSync(join(workspaceRoot, path), 'utf8');
}

/** @param path path relative to the workspace root */
export function fileExists(path: string): boolean {
  return existsSync(join(workspaceRoot, path));
}
