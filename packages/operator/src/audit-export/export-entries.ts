import type { OperatorContext } from '@deedwire/actions';
import { terminalText } from '@deedwire/core';
import { createProgress } from '../progress.ts';
import { type Shell, writePart, clearLine } from '../shell.ts';
import { changedFields, compareEntries, type Difference, isPastRetention } from './compare-entries.ts';
import { chainEntry, emptyChain } from './export-line.ts';
import { readRuns } from './read-runs.ts';
import { readStored } from './read-stored.ts';
import { verifyChain, type VerifiedChain } from './verify-chain.ts';

/** Verifies the previous exports, in the order of their lines. */
export async function verifyFiles(shell: Shell, files: readonly string[]): Promise<VerifiedChain> {
  const progress = createProgress(shell, {});
  const problems = reportUpTo(shell);
  try {
    const chain = await verifyChain(
      files,
      ({ file, fileLine, problem }) => problems.report(`${file}, line ${fileLine}: ${problem}`),
      (lines) => progress.report(`Verified ${lines.toLocaleString('en')} lines`),
    );
    progress.end();
    problems.end();
    if (problems.count() === 0) return chain;
  } finally {
    progress.end();
  }
  throw new Error(
    `The exports were changed, are incomplete or are not in their order: ${problems.count()} ` +
      `${problems.count() === 1 ? 'problem' : 'problems'}.`,
  );
}

/**
 * Writes the entries that the previous exports do not contain, and reports which of theirs the database has lost or altered.
 *
 * @throws {Error} if a previous export is not intact, before anything is written; or if the database has lost or altered entries,
 * after the new ones were written
 */
export async function exportEntries(
  shell: Shell,
  context: OperatorContext,
  { previousFiles, retentionDays }: { previousFiles: readonly string[]; retentionDays: number },
): Promise<void> {
  const chain = await verifyFiles(shell, previousFiles);
  if (chain.firstLine !== null && chain.firstLine !== 1) {
    throw new Error(
      `The previous exports begin with line ${chain.firstLine}. Name all exports, beginning with line 1: ` +
        'entries of those that are left out would be exported again.',
    );
  }
  const nowMs = context.now().getTime();
  // In a terminal, the entries show the progress.
  const progress = shell.stdout.isTTY === true ? null : createProgress(shell, {});
  const problems = reportUpTo(shell);
  const output = createOutput(shell);
  let end = chain.lastHash === null ? emptyChain : { line: chain.lastLine ?? 0, hash: chain.lastHash };
  let compared = 0;
  const stored = countEach(readStored(context), () => {
    compared += 1;
    progress?.report(`Read ${compared.toLocaleString('en')} entries`);
  });
  try {
    for await (const difference of compareEntries(readRuns(chain.runs), stored)) {
      if (difference.kind === 'new') {
        const chained = chainEntry(end, difference.stored.json);
        end = chained.end;
        await output.add(`${chained.text}\n`);
      } else if (difference.kind === 'altered' || !isPastRetention(difference, retentionDays, nowMs)) {
        problems.report(describe(difference));
      }
    }
    await output.end();
  } finally {
    progress?.end();
  }
  problems.end();
  if (problems.count() === 0) return;
  throw new Error(
    `The database has lost or altered ${problems.count()} of the ${chain.entries} entries of the previous exports. ` +
      'The new entries were exported.',
  );
}

function describe(difference: Exclude<Difference, { kind: 'new' }>): string {
  const { file, line, atMs, json } = difference.exported;
  const { action, subject } = JSON.parse(json);
  const entry = `${new Date(atMs).toISOString()} ${action} ${subject}`;
  const place = `line ${line} of the export, in ${file}`;
  if (difference.kind === 'missing') return `missing in the database: ${entry} (${place})`;
  const fields = changedFields(json, difference.stored.json).join(', ');
  return `altered in the database: ${entry} (${place}): ${fields}`;
}

async function* countEach<Item>(items: AsyncIterable<Item>, onItem: () => void): AsyncGenerator<Item> {
  for await (const item of items) {
    onItem();
    yield item;
  }
}

const partLength = 65_536;

function createOutput({ stdout }: Shell) {
  let part = '';
  const flush = async (): Promise<void> => {
    const text = part;
    part = '';
    // A program verifies the hash of each line, as it is in the file.
    await writePart(stdout.isTTY === true ? stdout.write : stdout.writeUnescaped, text);
  };
  return {
    async add(text: string): Promise<void> {
      part += text;
      if (part.length >= partLength) await flush();
    },
    async end(): Promise<void> {
      if (part !== '') await flush();
    },
  };
}

const reportedMax = 20;

/** Writes the first 20 findings to standard error, and then how many more there are. */
function reportUpTo({ stderr, warn }: Pick<Shell, 'stderr' | 'warn'>) {
  let found = 0;
  return {
    count: () => found,
    report(finding: string): void {
      found += 1;
      if (found > reportedMax) return;
      // Replaces the line of the progress.
      if (stderr.isTTY === true) stderr.writeUnescaped(clearLine);
      // A finding that contains line feeds is one line too.
      warn(terminalText(finding));
    },
    end(): void {
      if (found > reportedMax) warn(`… and ${found - reportedMax} more`);
    },
  };
}
