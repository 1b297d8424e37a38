import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

const topLevelFolders = [
  'packages',
  'apps',
  'tools',
  'examples',
  'docs',
  'scripts',
  String.raw`\.changeset`,
  String.raw`\.ci`,
  String.raw`\.devcontainer`,
  String.raw`\.github`,
];

// A path below a top-level folder of the repository, in prose, in code or in a diagram. A URL or a relative link that
// contains such a folder is preceded by a slash and does not match; a test of tools/generate checks links. Neither does a
// file that a command writes, after `> `.
const pathPattern = new RegExp(
  String.raw`(?<![\w./@-]|> )(?:${topLevelFolders.join('|')})\/[\w./*{},<>-]*[\w/*}>]`,
  'g',
);

/** The repository paths that a page names, as glob patterns: a placeholder such as `<date>` becomes `*`. */
function documentedPaths(text: string): string[] {
  const matches = text.replaceAll(/<br\s*\/?>/g, ' ').matchAll(pathPattern);
  const paths = Array.from(matches, ([path]) => path.replaceAll(/<[^>]*>/g, '*'));
  return [...new Set(paths)];
}

/** Returns the paths that match no file and no folder below `root`. */
function missingPaths(paths: readonly string[], root: string): string[] {
  return paths.filter((path) => globSync(path, { cwd: root }).length === 0);
}

const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: workspaceRoot, exclude: ['docs/reference/**'] });

test.each(pages)('every path in %s exists', (page) => {
  const paths = documentedPaths(readFileSync(join(workspaceRoot, page), 'utf8'));
  expect(missingPaths(paths, workspaceRoot)).toEqual([]);
});

test('finds paths in code, links, tables and diagrams', () => {
  const page = [
    '`packages/store/migrations/`, then [a file](tools/checks/src/run.ts).',
    '| `apps/lender-api/src/main.ts` | `.github/workflows/ci.yml` |',
    '  send["Send<br/>packages/webhook-sender/src/sender.ts"]',
    'See docs/errors.md.',
  ].join('\n');
  expect(documentedPaths(page)).toEqual([
    'packages/store/migrations/',
    'tools/checks/src/run.ts',
    'apps/lender-api/src/main.ts',
    '.github/workflows/ci.yml',
    'packages/webhook-sender/src/sender.ts',
    'docs/errors.md',
  ]);
});

test('turns placeholders into wildcards', () => {
  expect(documentedPaths('`packages/<interface>-schema/versions/<date>.graphql`')).toEqual([
    'packages/*-schema/versions/*.graphql',
  ]);
});

test('ignores URLs, relative links and folders without a path', () => {
  expect(
    documentedPaths('https://deedwire.example/docs/errors.md [store](../packages/store) packages/ @deedwire/apps/x'),
  ).toEqual([]);
});

test('ignores a file that a command writes', () => {
  expect(documentedPaths('sed s/a/b/ docs/errors.md > docs/other.md')).toEqual(['docs/errors.md']);
});

test('reports a path that matches nothing', () => {
  expect(
    missingPaths(['tools/checks/src/run.ts', 'tools/*/src/run.ts', 'tools/checks/nothing/'], workspaceRoot),
  ).toEqual(['tools/checks/nothing/']);
});

test('the README of contract-check names the action in the repository that its package.json states', () => {
  const folder = join(workspaceRoot, 'packages/contract-check');
  const { repository }: { repository?: { url: string } } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  expect(actionReferences(readme)).toEqual([actionReference(repository?.url)]);
});

test.each([
  [undefined, '<owner>/<repository>/packages/contract-check/action'],
  ['git+https://github.com/books/deedwire.git', 'books/deedwire/packages/contract-check/action'],
  ['https://github.com/books/deedwire', 'books/deedwire/packages/contract-check/action'],
])('the action of the repository %s is %s', (url, reference) => {
  expect(actionReference(url)).toBe(reference);
});

/** Until the repository is public, the reference has placeholders. */
function actionReference(url: string | undefined): string {
  const [, repository = '<owner>/<repository>'] = /github\.com\/([^/]+\/[^/]+?)(?:\.git)?$/.exec(url ?? '') ?? [];
  return `${repository}/packages/contract-check/action`;
}

function actionReferences(page: string): string[] {
  return [...page.matchAll(/uses: (\S+\/packages\/contract-check\/action)@/g)].map(([, reference = '']) => reference);
}
