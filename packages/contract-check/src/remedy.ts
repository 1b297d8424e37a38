import type { Verdict } from './verdict.ts';

/** Describes a declared bump that is smaller than the changes need. */
export function describeTooSmallBump(needed: Verdict, declared: Verdict): string {
  const found = declared === 'none' ? 'no bump' : `only a ${declared} bump`;
  return `the changes need a ${needed} bump, but ${found} is declared.`;
}

/** The remedy for a missing or too small bump: a sentence, then the command to run. */
export function declareBump(packageName: string, bump: Verdict): string {
  return [
    `declare a ${bump} bump of ${packageName}:`,
    `pnpm changeset add --${bump} ${packageName} -m "Describe the change for your users"`,
  ].join('\n');
}

/** The remedy for a broken released version. `file` is a contract file, `versions.json` or `package.json`. */
export function keepReleased(packageName: string, file: string): string {
  if (file === 'versions.json')
    return 'restore the released state of the version. To stop serving it, release its deprecation and its sunset first, dated on or after the day of that release, and retire it once the sunset has passed, which is major.';
  if (file === 'package.json')
    return `restore the package ${packageName}. To remove or rename it, list the change in contract-exceptions.json in an earlier pull request of its own.`;
  if (!/^(?:versions|json-schema)\//.test(file))
    return `revert the major changes in ${file}: restore what was released, and only add to it.`;
  return [
    `revert the major changes in ${file}. To make them, add a new version in a new file, which is minor:`,
    `pnpm changeset add --minor ${packageName} -m "Describe the new version for your users"`,
  ].join('\n');
}
