import { checkWorkspace, type WorkspaceOptions } from '../../src/workspace/check-workspace.ts';
import { type Files, writeAllIn } from './folders.ts';
import { commitAll, commitRelease } from './git.ts';

export const sdl = 'type Query {\n  a: Int\n  b: Int\n}\n';
export const broken = 'type Query {\n  a: Int\n}\n';
export const contract = 'packages/api/versions/2026-01-01.graphql';

export function manifest(version: string, settings: object = {}): string {
  return JSON.stringify({ name: '@books/api', version, contractCheck: settings });
}

/** The content of `contract-exceptions.json` with an approved exception. */
export function approved(exception: object): object {
  const approval = { reason: 'A test.', expiresOn: '9999-12-31', approvedBy: 'Ada Example' };
  return { exceptions: [{ package: '@books/api', ...exception, ...approval }] };
}

/** What tests do in a repository with one contract package, whose folder `rootOf` returns. */
export function repositoryIn(rootOf: () => string) {
  const write = (files: Files): void => writeAllIn(rootOf(), files);
  return {
    write,
    /** Version 1.0.0 of the package is released. */
    release: (files: Files = {}): void => {
      write({ 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl, ...files });
      commitRelease(rootOf());
    },
    commit: (files: Files = {}): string => {
      write(files);
      return commitAll(rootOf());
    },
    check: async (options: Partial<WorkspaceOptions> = {}) => {
      const { packages, notices } = await checkWorkspace({ root: rootOf(), ...options });
      return {
        verdicts: packages.map(({ name, verdict }) => [name, verdict]),
        codes: packages.flatMap(({ problems }) => problems.map(({ code }) => code)),
        rules: packages.flatMap(({ changes }) => changes.map(({ rule }) => rule)),
        baselines: packages.map(({ baseline }) => baseline?.replaceAll(/[0-9a-f]{12}/g, '<id>') ?? null),
        notices: notices.map(({ message }) => message),
      };
    },
  };
}
