import { join, posix, relative, resolve, sep } from 'node:path';
import { fileNotice, type Notice } from '../change.ts';
import { configFile, parseConfig, readConfig } from '../config/config.ts';
import type { Config } from '../config/generated/config.ts';
import { isReason } from '../environment/question.ts';
import type { MergeBase } from '../history/merge-base.ts';
import type { CommitFiles, Repository } from '../history/repository.ts';
import { ifValid } from '../input-error.ts';
import type { PackageFiles } from '../source/package-files.ts';
import { readIfThere, type SourceText } from '../text-file.ts';
import {
  findPackages,
  isContractPackage,
  packageOfFiles,
  packageReader,
  type ReadPackage,
  type WorkspacePackage,
} from './contract-package.ts';
import { exceptionsFile, parseExceptions, type ContractException } from './exceptions.ts';
import { formerOwners } from './former-contracts.ts';
import { workspaceMembers } from './workspace-members.ts';

export type WorkspaceState = ReturnType<typeof stateOf>;

/** What a workspace states about its contracts at one time. `packageIn` reads any package, including one inside another package. */
function stateOf(files: PackageFiles, config: Config, packageIn: ReadPackage) {
  /** All packages with a name, including those without contracts. */
  const packages: readonly WorkspacePackage[] = findPackages(files, packageIn);
  return { files, config, packageIn, packages, members: workspaceMembers(files) };
}

/**
 * @param files those of the root that can belong to packages
 * @param config the path of the configuration. Null for `contract-check.json` in the root, if it exists.
 */
export function workingTree(root: string, files: PackageFiles, config: string | null): WorkspaceState {
  return stateOf(files, readConfig(config, root), packageReader(files));
}

const settingsFiles =
  /(?:^|\/)(?:(?:package|lerna|versions|contract-check|contract-exceptions)\.json|\.npmrc|pnpm-workspace\.yaml)$/;
const contractFiles =
  /(?:^|\/)(?:released\/.*|versions\/[^/]*\.(?:graphql|manifest\.json)|json-schema\/.*\.json|api\/.*\.api\.json)$/;

/** Loads what is always read of a commit: the settings, and the contracts in the documented folders. */
export function loadState(tree: CommitFiles): void {
  tree.load([...tree.files.keys()].filter((path) => settingsFiles.test(path) || contractFiles.test(path)));
}

/** The state at the commit into which changes will be merged. */
export type MergedState = ReturnType<typeof stateAt>;

/**
 * What is invalid at the commit does not apply: a pull request has to be able to repair it. In place of an invalid
 * `package.json`, the last valid one applies, because the package may be released.
 */
export function stateAt(root: string, repository: Repository, base: MergeBase, config: string | null) {
  const [tree, target] = [repository.filesAt(base.commit), repository.filesAt(base.target)];
  loadState(tree);
  if (target.commit !== tree.commit) target.load([configFile, exceptionsFile]);
  /** What is invalid at the commit, and so does not apply. */
  const notices: Notice[] = [];
  /** Null with a notice if what `read` reads is invalid. */
  function validOrNoticed<T>(path: string, read: () => T): T | null {
    return ifValid(read, (error) => {
      notices.push(fileNotice(path, `The merged state does not apply: ${error.message}`));
      return null;
    });
  }
  const configPath = relative(root, config === null ? join(root, configFile) : resolve(config)).replaceAll(sep, '/');
  function configAt(commit: CommitFiles): Config {
    // A configuration outside the repository is not part of the changes.
    const read = (): Config => {
      if (!repository.contains(configPath)) return readConfig(config, root);
      const source = commit.fileAt(configPath);
      return source === null ? {} : parseConfig(source);
    };
    return validOrNoticed(configPath, read) ?? {};
  }
  /** What makes the gate less strict, as a commit has it. */
  function permissionsAt(commit: CommitFiles, { overrides = [] }: Config) {
    const exceptions = validOrNoticed(exceptionsFile, () => {
      const source = commit.fileAt(exceptionsFile);
      return source && parseExceptions(source, null);
    });
    return { overrides, exceptions: exceptions ?? [] };
  }
  const packageIn = packageReader(tree.files, (path, error) => {
    const older = lastValidManifest(repository, tree, path);
    const message = `The merged state does not apply, but the last valid one: ${error.message}`;
    if (older !== null) notices.push(fileNotice(posix.join(path, 'package.json'), message));
    return older;
  });
  const state = stateOf(tree.files, configAt(tree), packageIn);
  const configInside = repository.contains(configPath) ? configPath : null;
  const owners = formerOwners(repository, tree, configInside);
  return {
    ...state,
    repository,
    /** The files of the commit. */
    tree,
    /** The packages that can have released contracts that the commit does not have. */
    formerOwners: owners,
    /** Whether the commit or one before it has a contract. */
    hadContracts: owners.size > 0 || state.packages.some(isContractPackage),
    /** The path of the configuration, relative to the root. Null if it is outside the repository. */
    configPath: configInside,
    /** At the merge base, and at the newest commit of the target: what was withdrawn since does not apply. */
    permissions: [
      permissionsAt(tree, state.config),
      ...(target.commit === tree.commit ? [] : [permissionsAt(target, configAt(target))]),
    ],
    notices,
  };
}

/** The newest valid `package.json` of a folder before a commit. Null if there is none. */
function lastValidManifest(repository: Repository, { commit }: CommitFiles, folder: string): SourceText | null {
  const path = posix.join(folder, 'package.json');
  const commits = repository.lines('rev-list', commit, '--', `:(literal)${path}`);
  const texts = repository.textsAt(commits.map((id) => ({ commit: id, path })));
  const sources = texts.flatMap((text, index): SourceText[] =>
    text === null ? [] : [{ file: `git:${commits[index]?.slice(0, 12) ?? ''}:${path}`, text }],
  );
  // In a list, because a valid one can have no name.
  const read = (source: SourceText) => [packageOfFiles(folder, new Map([['package.json', () => source]]))];
  return sources.find((source) => ifValid(() => read(source)) !== null) ?? null;
}

/**
 * Reads the exceptions in the working tree that are about changes of `packages`, which are the names that one can have. Null for those
 * about answers.
 */
export function listedExceptions(root: string, packages: readonly string[] | null): ContractException[] {
  const source = readIfThere(join(root, exceptionsFile));
  const all = source === null ? [] : parseExceptions(source, packages);
  return all.filter(({ rule }) => isReason(rule) === (packages === null));
}
