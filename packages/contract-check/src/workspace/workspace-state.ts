import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import type { Notice } from '../change.ts';
import type { Config } from '../config/config.ts';
import { configFile, parseConfig, readConfig } from '../config/read-config.ts';
import type { CommitFiles, Repository } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import type { PackageFiles } from '../source/package-files.ts';
import { readSourceText } from '../text-file.ts';
import { findPackages, workspaceFiles, type WorkspacePackage } from './contract-package.ts';
import { exceptionsFile, parseExceptions, type ContractException } from './exceptions.ts';

/** What a workspace states about its contracts at one time. */
export interface WorkspaceState {
  readonly files: PackageFiles;
  readonly config: Config;
  /** All packages with a name, also those without contracts. */
  readonly packages: readonly WorkspacePackage[];
}

/** @param config the path of the configuration. Null for `contract-check.json` in the root, if it exists. */
export function workingTree(root: string, config: string | null): WorkspaceState {
  const files = workspaceFiles(root);
  return { files, config: readConfig(config, root), packages: findPackages(files) };
}

/** The state at the commit into which changes will be merged. */
export interface MergedState extends WorkspaceState {
  readonly exceptions: readonly ContractException[];
  /** What is invalid at the commit, and so does not apply. */
  readonly notices: readonly Notice[];
}

/** What is invalid at the commit does not apply: a pull request has to be able to repair it. */
export function stateAt(root: string, repository: Repository, tree: CommitFiles, config: string | null): MergedState {
  tree.load(
    [...tree.files.keys()].filter((path) => /(?:^|\/)(?:package|versions)\.json$|(?:^|\/)released\//.test(path)),
  );
  const notices: Notice[] = [];
  function readOr<T>(path: string, other: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      notices.push({
        location: { file: path, line: null },
        message: `The merged state does not apply: ${error.message}`,
      });
      return other;
    }
  }
  const configPath = relative(root, config === null ? join(root, configFile) : resolve(config)).replaceAll(sep, '/');
  const readMergedExceptions = tree.files.get(exceptionsFile);
  return {
    files: tree.files,
    packages: readOr<WorkspacePackage[]>('package.json', [], () => findPackages(tree.files)),
    config: readOr<Config>(configPath, {}, () => {
      // A configuration outside the repository is not part of the changes.
      if (!repository.contains(configPath)) return readConfig(config, root);
      const [text = null] = repository.textsAt([{ commit: tree.commit, path: configPath }]);
      return text === null ? {} : parseConfig({ file: `git:${tree.commit.slice(0, 12)}:${configPath}`, text });
    }),
    exceptions: readOr<ContractException[]>(exceptionsFile, [], () =>
      readMergedExceptions === undefined ? [] : parseExceptions(readMergedExceptions(), null),
    ),
    notices,
  };
}

/**
 * Reads the exceptions in the working tree.
 *
 * @param packages the names that an exception can have
 */
export function listedExceptions(root: string, packages: readonly string[]): ContractException[] {
  const file = join(root, exceptionsFile);
  return existsSync(file) ? parseExceptions(readSourceText(file), packages) : [];
}
