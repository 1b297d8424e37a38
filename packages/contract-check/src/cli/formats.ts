import type { Outcome } from './outcome.ts';
import { renderGithub } from './render-github.ts';
import { renderJunit } from './render-junit.ts';
import { renderMarkdown } from './render-markdown.ts';
import { renderSarif } from './render-sarif.ts';
import { renderText } from './render-text.ts';

export const formats = ['text', 'json', 'github', 'sarif', 'markdown', 'junit'] as const;

export type Format = (typeof formats)[number];

/** @param version the version of this package */
export function render(outcome: Outcome, format: Format, version: string): string {
  switch (format) {
    case 'text':
      return renderText(outcome);
    case 'json':
      return JSON.stringify(outcome.json, null, 2);
    case 'github':
      return renderGithub(outcome);
    case 'sarif':
      return renderSarif(outcome, version);
    case 'markdown':
      return renderMarkdown(outcome);
    case 'junit':
      return renderJunit(outcome);
  }
}
