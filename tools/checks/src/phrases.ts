import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { run, workspaceRoot, type CommandResult } from './run.ts';

/**
 * Phrases that the rules for prose in CONTRIBUTING.md exclude, and what to write instead. A phrase is a regular expression
 * without regard to case; a space in it also matches a line break with the start of the next comment line.
 */
export const phrases: readonly (readonly [phrase: string, replacement: string])[] = [
  // Who or what acts.
  ['nobody', 'the subject: "no client", "no worker"'],
  ['somebody', 'the subject: "a client", "an operator"'],
  ['whoever', 'the subject: "the client", "the operator"'],
  ['(?:is|are|was|were|be|been) told(?! apart)', '"receives", "is notified" or "reads"'],
  ['(?:tells?|told) of', '"reports" or "announces"'],
  ['(?:is|are) said', '"is stated" or "is defined"'],
  ['said once', '"defined here only"'],
  ['as it says', 'what it reports'],
  ['knows? nothing of', '"does not depend on"'],
  ['for people to read', '"human-readable"'],
  ['makes nobody', '"avoids"'],

  // The terms of this project.
  ['under way', '"in progress" or "in flight"'],
  ['(?:is|are|was|were|goes|went|gone) away', '"is unavailable"'],
  ['(?:come|comes|came|coming) to (?:its|their|an) end', '"is retired" or "ends"'],
  ['(?:is|are|was|were) tried (?:again|anew)', '"is retried"'],
  ['(?:given|give|gives|giving|gave) back', '"released" or "returned"'],
  ['(?:take|takes|taken|took) up again', '"resumes"'],
  ['lets? go of', '"releases"'],
  ['in (?:other|the) hands', '"leased by another worker"'],
  ['stands? like this', '"has this status"'],
  ['how (?:it|they|(?:a|the) \\w+) stands?', '"status"'],
  ['knock(?:s|ing)? (?:on|at)', '"scan" or "probe"'],
  ['mend(?:s|ed|ing)?', '"fix"'],
  ['it was none', '"Null if …" or "Null for …"'],
  ['a stretch of', '"a range of" or "a page of"'],
  ['e-mail', '"email"'],

  // Plain words.
  ['any more(?! than)', '"no longer" with a positive verb'],
  ['(?:of its|of their) own(?! \\w)', '"its own" before the noun, or "separate"'],
  ['by themselves', '"automatically"'],
  ['(?:look|looks|start|starts|end|ends|move|moves|come|comes) by itself', '"automatically"'],
  ['so long as', '"as long as" or "while"'],
  ["before (?:your|one's) eyes", '"in your terminal"'],
];

export interface Finding {
  /** From 1. */
  line: number;
  /** As it stands in the text, on one line. */
  phrase: string;
  replacement: string;
}

/** Between two words of a phrase: spaces, or a line break and the mark that begins the next line of a comment or quote. */
const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\*|//|--|#|>)[ \t]+)?)`;

const patterns = phrases.map(([phrase, replacement]) => ({
  pattern: new RegExp(String.raw`(?<![\w-])(?:${phrase.replaceAll(' ', gap)})(?![\w-])`, 'gi'),
  replacement,
}));

const isScript = (path: string): boolean => ['.ts', '.mts', '.js', '.mjs'].includes(extname(path));

/**
 * The phrases in the prose of a file. In scripts, prose is comments and strings of several words. `phrase-ok: <reason>` on
 * the line of a phrase or on the line before allows it.
 */
export function findPhrases(path: string, text: string): Finding[] {
  const prose = isScript(path) ? withoutCode(text) : text;
  const lines = text.split('\n');
  const isAllowed = (line: number): boolean =>
    [line, line - 1].some((number) => /\bphrase-ok: \S/.test(lines[number - 1] ?? ''));
  return patterns
    .flatMap(({ pattern, replacement }) => Array.from(prose.matchAll(pattern), (match) => ({ match, replacement })))
    .toSorted((one, other) => one.match.index - other.match.index)
    .map(({ match, replacement }) => ({
      line: prose.slice(0, match.index).split('\n').length,
      phrase: match[0].replaceAll(new RegExp(gap, 'g'), ' '),
      replacement,
    }))
    .filter(({ line }) => !isAllowed(line));
}

/** The text with the code between comments and prose strings blanked, so that lines keep their numbers. */
function withoutCode(text: string): string {
  const commentOrString = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g;
  let prose = '';
  let end = 0;
  for (const match of text.matchAll(commentOrString)) {
    const isData = /^['"`]/.test(match[0]) && !/\s/.test(match[0]);
    prose += blank(text.slice(end, match.index)) + (isData ? blank(match[0]) : match[0]);
    end = match.index + match[0].length;
  }
  return prose + blank(text.slice(end));
}

function blank(code: string): string {
  return code.replaceAll(/\S/g, '\0');
}

const included = [
  '*.md',
  '*.ts',
  '*.mts',
  '*.js',
  '*.mjs',
  '*.sql',
  '*.graphql',
  '*.json',
  '*.yml',
  '*.yaml',
  '.ci/run',
];

/** Text that a tool writes, that has been released, or that is recorded or test data. */
const excluded = [
  '**/generated/**',
  '**/json-schema/*/**',
  'docs/reference/**',
  '**/released/**',
  '**/CHANGELOG.md',
  'pnpm-lock.yaml',
  '**/fixtures/**',
  '**/__snapshots__/**',
  'packages/*/examples/**/*.json',
  'tools/contract-tests/consumers/*/recorded.json',
  'packages/contract-check/corpus/**',
  'tools/checks/src/phrases.ts',
  'tools/checks/src/phrases.test.ts',
];

/** Searches all tracked and new files of the workspace. */
export async function checkPhrases(): Promise<CommandResult> {
  const pathspecs = [...included, ...excluded.map((pattern) => `:(glob,exclude)${pattern}`)];
  const listed = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...pathspecs]);
  if (!listed.succeeded) return listed;
  const paths = listed.stdout.split('\0').filter((path) => path !== '');
  const reports = await Promise.all(paths.map(reportFile));
  const output = reports.join('');
  return { succeeded: output === '', output };
}

async function reportFile(path: string): Promise<string> {
  // Undefined: the file is deleted in the working tree, but not yet in the index.
  const text = await readFile(join(workspaceRoot, path), 'utf8').catch(() => undefined);
  if (text === undefined) return '';
  return findPhrases(path, text)
    .map(({ line, phrase, replacement }) => `${path}:${line}: "${phrase}": write ${replacement} instead\n`)
    .join('');
}
