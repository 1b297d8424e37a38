import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import type { Location } from '../change.ts';
import { repositoryAround } from '../history/git.ts';
import { kindOfPlace } from '../source/read-source.ts';
import type { Outcome } from './outcome.ts';
import { jsonLines, type Line } from './printed-line.ts';
import { renderGithub } from './render-github.ts';
import { renderJunit } from './render-junit.ts';
import { renderMarkdown } from './render-markdown.ts';
import { renderSarif } from './render-sarif.ts';
import { renderText } from './render-text.ts';

/** Renders an outcome. `githubWorkspace`: the root of the repository, if there is no `.git`. */
type Render = (outcome: Outcome, version: string, githubWorkspace: string | undefined) => readonly Line[];

/** By format. */
export const renderers = {
  text: renderText,
  json: ({ json }) => jsonLines(json),
  github: (outcome, _, githubWorkspace) => renderGithub(outcome, fromRepositoryRoot(githubWorkspace)),
  sarif: (outcome, version, githubWorkspace) => renderSarif(outcome, fromRepositoryRoot(githubWorkspace), version),
  markdown: renderMarkdown,
  junit: renderJunit,
} satisfies Readonly<Record<string, Render>>;

/** Names files from the root of the repository, as GitHub and code scanning do. Those of a commit are so already. */
function fromRepositoryRoot(githubWorkspace: string | undefined): (location: Location) => Location {
  const folder = realpathSync('.');
  const root = repositoryAround(folder)?.root ?? realpathSync(githubWorkspace || folder);
  return ({ file, line }) => {
    if (kindOfPlace(file) !== 'local' || file === 'standard input') return { file, line };
    const path = relative(root, resolve(folder, file));
    // A file outside of the repository.
    return { file: path.startsWith('..') ? resolve(folder, file) : path.replaceAll(sep, '/'), line };
  };
}
