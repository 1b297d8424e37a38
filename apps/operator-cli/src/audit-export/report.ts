import { terminalText } from '@deedwire/domain';
import { clearLine, type Shell } from '../shell.ts';

const reportedMax = 20;

/** Writes the first 20 findings to standard error, and then how many more there are. */
export function reportUpTo({ stderr }: Pick<Shell, 'stderr'>) {
  let found = 0;
  return {
    count: () => found,
    report(finding: string): void {
      found += 1;
      if (found > reportedMax) return;
      // Replaces the line of the progress.
      if (stderr.isTTY === true) stderr.writeUnescaped(clearLine);
      // A finding that contains line feeds is one line too.
      stderr.write(`${terminalText(finding)}\n`);
    },
    end(): void {
      if (found > reportedMax) stderr.write(`… and ${found - reportedMax} more\n`);
    },
  };
}
