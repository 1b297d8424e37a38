import type { Shell } from '../shell.ts';

const reportedMax = 20;

/** Writes the first 20 findings to standard error, and then how many more there are. */
export function reportUpTo({ stderr }: Pick<Shell, 'stderr'>) {
  let found = 0;
  return {
    count: () => found,
    report(finding: string): void {
      found += 1;
      // Replaces the line of the progress.
      if (found <= reportedMax) stderr.write(`${stderr.isTTY === true ? '\r\u001B[K' : ''}${printable(finding)}\n`);
    },
    end(): void {
      if (found > reportedMax) stderr.write(`… and ${found - reportedMax} more\n`);
    },
  };
}

/** Control characters in an entry could rewrite the operator's terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
