/**
 * `node scripts/apply-versions.ts PATCH` applies what `pnpm run version` has changed, a patch of a job that cannot write. Needs Node and
 * git only. Dependencies ran in that job, so a patch that changes anything else is refused.
 */
import { execFileSync } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';

interface Change {
  path: string;
  /** Null if the file is added. */
  before: string | null;
  /** Null if it is deleted. */
  after: string | null;
}

interface Kind {
  path: RegExp;
  /** What a release changes in these files. */
  may: string;
  allows(change: Change): boolean;
}

const version = /^  "version": "\d+\.\d+\.\d+",$/m;
const ownMajor = /^    default: '@deedwire\/contract-check@\d+'$/m;

const kinds: readonly Kind[] = [
  { path: /^\.changeset\/[^/]+\.md$/, may: 'only be deleted', allows: ({ after }) => after === null },
  { path: /^.+\/package\.json$/, may: 'only change its version', allows: changesOnly(version) },
  {
    path: /^packages\/contract-check\/action\/action\.yml$/,
    may: 'only change the major version that it installs',
    allows: changesOnly(ownMajor),
  },
  {
    path: /^[^/]+\/[^/]+\/CHANGELOG\.md$/,
    may: 'only get text after its heading, and be added only to a package that exists',
    allows: ({ path, before, after }) =>
      after !== null && (before === null ? isOfPackage(path) : after.endsWith(before.slice(before.indexOf('\n')))),
  },
  {
    path: /^packages\/[^/]+\/releases\.json$/,
    may: 'only get records after its last one, and be added only to a package that exists',
    allows: ({ path, before, after }) =>
      after !== null && isJson(after) && (before === null ? isOfPackage(path) : after.startsWith(before.slice(0, -3))),
  },
  {
    path: /^docs\/reference\/.+\.md$/,
    may: 'only change its text',
    allows: ({ before, after }) => before !== null && after !== null,
  },
];

/** Nothing else than these lines, which do not move. */
function changesOnly(line: RegExp) {
  return ({ before, after }: Change): boolean =>
    before !== null && after !== null && isDeepStrictEqual(before.split(line), after.split(line));
}

function isOfPackage(path: string): boolean {
  return git('ls-tree', 'HEAD', path.replace(/[^/]+$/, 'package.json')) !== '';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function git(...words: string[]): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
    execFileSync('git', words, { maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** Null: the path has no file on this side. Undefined: it has no plain file of text. */
function readSide(mode: string, blob: string): string | null | undefined {
  if (mode === '000000') return null;
  if (mode !== '100644') return undefined;
  try {
    const text = git('cat-file', 'blob', blob);
    return /[^\P{Cc}\n\t]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Null if a release makes this change. */
function problemOf(entry: string, path: string): string | null {
  const [modeBefore = '', modeAfter = '', blobBefore = '', blobAfter = ''] = entry.slice(1).split(' ');
  const kind = kinds.find((each) => each.path.test(path));
  if (!kind) return 'A release does not change it.';
  const before = readSide(modeBefore, blobBefore);
  const after = readSide(modeAfter, blobAfter);
  if (before === undefined || after === undefined) return 'It is not a plain file of text.';
  return kind.allows({ path, before, after }) ? null : `A release may ${kind.may}.`;
}

const [patch = ''] = process.argv.slice(2);
git('apply', '--index', patch);
const fields = git('diff', '--cached', '--no-renames', '--no-abbrev', '--raw', '-z').split('\0').slice(0, -1);
const problems: string[] = [];
for (let index = 0; index < fields.length; index += 2) {
  const [entry = '', path = ''] = fields.slice(index, index + 2);
  const problem = problemOf(entry, path);
  if (problem !== null) problems.push(`  ${JSON.stringify(path)}: ${problem}\n`);
}
if (problems.length > 0) {
  git('reset', '--quiet', '--hard');
  process.stderr.write(`The patch is not applied, because it changes what no release changes:\n${problems.join('')}`);
  process.exitCode = 1;
}
