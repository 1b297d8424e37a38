import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ScaffoldError } from './scaffold-error.ts';

/** Changes of files, kept in memory until `write`. Paths are relative to the workspace root. */
export interface Changes {
  readonly created: readonly string[];
  readonly edited: readonly string[];
  /** @throws {ScaffoldError} when the file does not exist */
  read(path: string): string;
  /** Returns the existing files that match a glob pattern, sorted. */
  find(pattern: string): string[];
  /** @throws {ScaffoldError} when the file exists */
  create(path: string, text: string): void;
  /** @throws {ScaffoldError} when the file does not exist, or the edit changes nothing */
  edit(path: string, edit: (text: string) => string): void;
  write(): void;
}

export function planChanges(root: string): Changes {
  const [created, edited] = [new Map<string, string>(), new Map<string, string>()];

  function read(path: string): string {
    const planned = created.get(path) ?? edited.get(path);
    if (planned !== undefined) return planned;
    if (!existsSync(join(root, path))) throw new ScaffoldError(`${path} is missing.`);
    return readFileSync(join(root, path), 'utf8');
  }

  return {
    get created() {
      return [...created.keys()].toSorted();
    },
    get edited() {
      return [...edited.keys()].toSorted();
    },
    read,
    find: (pattern) => globSync(pattern, { cwd: root }).toSorted(),
    create(path, text) {
      if (created.has(path) || existsSync(join(root, path))) throw new ScaffoldError(`${path} already exists.`);
      created.set(path, text);
    },
    edit(path, edit) {
      const text = read(path);
      const changed = edit(text);
      if (changed === text) throw new ScaffoldError(`${path} does not have the form that this command can extend.`);
      (created.has(path) ? created : edited).set(path, changed);
    },
    write() {
      for (const [path, text] of [...created, ...edited]) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    },
  };
}
