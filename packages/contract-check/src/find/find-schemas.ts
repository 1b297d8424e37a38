import { statSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import type { ConfiguredContracts } from '../config/config.ts';
import type { Config } from '../config/generated/config.ts';
import { filesLeftOut, keptFiles } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { below, filesOfFolder, matchingPaths } from '../source/package-files.ts';
import { foldersAround } from '../source/project.ts';
import { workspaceFiles, type WorkspacePackage } from '../workspace/contract-package.ts';
import { folderOf, nearest, ownerOf } from '../workspace/listed-contracts.ts';
import { contractPaths } from '../workspace/snapshot.ts';
import { workingTree, type WorkspaceState } from '../workspace/workspace-state.ts';
import { canBeSchema, recognize, unreadDocument, type SchemaKind } from './recognize.ts';

/** The schemas of a repository. */
export type FoundSchemas = ReturnType<typeof findSchemas>;

/** The schemas of one kind in one package. */
export interface SchemaGroup {
  readonly kind: SchemaKind;
  /** Null if no `package.json` around the files has a name. */
  readonly owner: WorkspacePackage | null;
  /** The number of files. */
  readonly files: number;
  /** The entry of the configuration that compares them. */
  readonly entry: ConfiguredContracts;
}

/** Larger files are data. */
const maxFileBytes = 32 * 1024 * 1024;

/** Finds the schemas of a repository. Leaves out what git ignores, `node_modules`, `dist` and hidden folders. */
export function findSchemas(root: string) {
  const leftOut = filesLeftOut(root);
  const now = workingTree(root, workspaceFiles(root, leftOut), null);
  const kept = keptFiles(root);
  const searched = [...now.files].filter(
    ([path]) => (kept === null || kept.has(path)) && (leftOut.has(path) || isSmallFile(join(root, path))),
  );
  const candidates = searched.filter(([path]) => canBeSchema(path));
  const compared = comparedFiles(now);
  const found: { path: string; kind: SchemaKind; owner: WorkspacePackage | null }[] = [];
  /** The files with each problem. */
  const invalid = new Map<string, string[]>();
  const unread = new Map<string, number>();
  for (const [path, read] of searched) {
    if (compared.has(path)) continue;
    try {
      const noun = unreadDocument(path, read);
      if (noun !== null) unread.set(noun, (unread.get(noun) ?? 0) + 1);
      if (noun !== null || !canBeSchema(path)) continue;
      const kind = recognize(path, read());
      if (kind !== null) found.push({ path, kind, owner: nearest(now.packageIn, posix.dirname(path)) });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      invalid.set(error.message, [...(invalid.get(error.message) ?? []), path]);
    }
  }
  // What a pattern matches: also what git ignores, but nothing hidden.
  const all = new Map([...leftOut, ...(filesOfFolder(root) ?? [])].filter(([path]) => !/(?:^|\/)\./.test(path)));
  const groups = Map.groupBy(found, ({ kind, owner }) => `${owner?.path ?? ''}\n${kind}`);
  return {
    /** How many files have the name of a schema. */
    searched: candidates.length,
    isInGit: kept !== null,
    /** How many contracts of each package `workspace` compares. */
    compared: new Map([...Map.groupBy(compared.values(), (name) => name)].map(([name, each]) => [name, each.length])),
    /** The schemas that `workspace` does not compare, by package and kind. */
    groups: [...groups.values()].flatMap(([first, ...others]): SchemaGroup[] => {
      if (first === undefined) return [];
      const { kind, owner } = first;
      const folder = owner?.path ?? '';
      const paths = [first, ...others].map(({ path }) => posix.relative(folder, path));
      const entry: ConfiguredContracts = {
        kind: kind === 'json-schema' ? kind : 'graphql',
        ...(folder === '' ? {} : { folder }),
        files: filePatterns(paths, below(all, folder).keys()),
        ...(owner === null ? { package: basename(resolve(root)) } : {}),
        ...(kind === 'json-schema' ? { direction: 'producer' } : {}),
        ...(kind === 'graphql-part' ? { partial: true } : {}),
      };
      return [{ kind, owner, files: paths.length, entry }];
    }),
    /** Why files that seem to be schemas are none, each reason once. */
    invalid: Array.from(invalid, ([problem, files]) =>
      files.length === 1 ? problem : `${problem} (reported for ${files.length} files, first ${files[0]})`,
    ),
    /** The numbers of files that no command reads: `YAML file` → 3. */
    unread,
  };
}

/** The configuration that compares schemas. */
export function configurationOf(groups: readonly SchemaGroup[], isInstalled: boolean): object {
  const config: Config = { contracts: groups.map(({ entry }) => entry) };
  return isInstalled ? { $schema: './node_modules/@deedwire/contract-check/config.schema.json', ...config } : config;
}

/** The contracts that `workspace` compares: path → package. */
function comparedFiles({ config, packages, packageIn, files }: WorkspaceState): ReadonlyMap<string, string> {
  if (config.contracts === undefined)
    return new Map(
      packages.flatMap(({ name, path, files: own, settings }) =>
        contractPaths(own, settings.appendOnly).map((file) => [posix.join(path, file), name] as const),
      ),
    );
  return new Map(
    config.contracts.flatMap((contracts) => {
      const folder = folderOf(contracts);
      const name = ownerOf(contracts, packageIn) ?? folder;
      return matchingPaths(below(files, folder), contracts.files).map(
        (file) => [posix.join(folder, file), name] as const,
      );
    }),
  );
}

/** A file of another kind, such as a pipe, may have no end. */
function isSmallFile(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= maxFileBytes;
}

/** Patterns for `found`, and no others of `all` with the same ending: all files in a folder, or else a single one. */
export function filePatterns(found: readonly string[], all: Iterable<string>): string[] {
  const wanted = new Set(found);
  const counts = new Map<string, { all: number; found: number; isDeep: boolean }>();
  for (const path of all)
    for (const folder of foldersOf(path))
      // A pattern for `.json` matches `.schema.json` too.
      for (const ending of new Set([endingOf(path), posix.extname(path)])) {
        const key = keyOf(folder, ending);
        const count = counts.get(key) ?? { all: 0, found: 0, isDeep: false };
        count.all += 1;
        if (wanted.has(path)) count.found += 1;
        if (posix.dirname(path) !== folder) count.isDeep = true;
        counts.set(key, count);
      }
  const patterns = found.map((path) => {
    for (const folder of foldersOf(path)) {
      const count = counts.get(keyOf(folder, endingOf(path)));
      if (count !== undefined && count.all > 1 && count.all === count.found)
        return `${literal(folder)}/${count.isDeep ? '**/' : ''}*${endingOf(path)}`;
    }
    return literal(path);
  });
  return [...new Set(patterns)].toSorted();
}

/** The folders around a file, the outermost first. */
function foldersOf(path: string): string[] {
  return foldersAround(posix.dirname(path)).slice(0, -1).toReversed();
}

function keyOf(folder: string, ending: string): string {
  return `${folder}\n${ending}`;
}

function endingOf(path: string): string {
  return path.endsWith('.schema.json') ? '.schema.json' : posix.extname(path);
}

/** A pattern that matches only this path. */
function literal(path: string): string {
  return path.replaceAll(/[\\*?+[\](){}!|]/g, '\\$&');
}
