import type { Outcome } from './outcome.ts';
import { renderGithub } from './render-github.ts';
import { renderJunit } from './render-junit.ts';
import { renderMarkdown } from './render-markdown.ts';
import { renderSarif } from './render-sarif.ts';
import { renderText } from './render-text.ts';
import { fromRepositoryRoot } from './repository-paths.ts';

export const formats = ['text', 'json', 'github', 'sarif', 'markdown', 'junit'] as const;

export type Format = (typeof formats)[number];

/**
 * @param version that of this package
 * @param githubWorkspace the root of the repository, if git does not find it
 */
export function render(outcome: Outcome, format: Format, version: string, githubWorkspace: string | undefined): string {
  switch (format) {
    case 'text':
      return renderText(outcome);
    case 'json':
      return JSON.stringify(outcome.json, null, 2);
    case 'github':
      return renderGithub(fromRepositoryRoot(outcome, githubWorkspace));
    case 'sarif':
      return renderSarif(fromRepositoryRoot(outcome, githubWorkspace), version);
    case 'markdown':
      return renderMarkdown(outcome);
    case 'junit':
      return renderJunit(outcome);
  }
}
