import { globSync } from 'node:fs';

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
export function documentedPaths(text: string): string[] {
  const matches = text.replaceAll(/<br\s*\/?>/g, ' ').matchAll(pathPattern);
  const paths = Array.from(matches, ([path]) => path.replaceAll(/<[^>]*>/g, '*'));
  return [...new Set(paths)];
}

/** Returns the paths that match no file and no folder below `root`. */
export function missingPaths(paths: readonly string[], root: string): string[] {
  return paths.filter((path) => globSync(path, { cwd: root }).length === 0);
}
