import type { Verdict } from './verdict.ts';

/** What to write so that a bump is declared. */
export function declareBump(packageName: string, bump: Verdict): string {
  return [
    `declare a ${bump} bump of ${packageName}:`,
    `pnpm changeset add --${bump} ${packageName} -m "What changed, for those who use it"`,
  ].join('\n');
}

/** What to write in place of breaking what is released. `file`: a contract, or `versions.json`. */
export function keepReleased(packageName: string, file: string): string {
  if (file === 'versions.json')
    return 'give the version its status back. To end it, deprecate it, then retire it: that is major.';
  return [
    `undo the major changes in ${file}. To make them, put a new version beside it, as a file of its own; that is minor:`,
    `pnpm changeset add --minor ${packageName} -m "What the new version brings, for those who use it"`,
  ].join('\n');
}
