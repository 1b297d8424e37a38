import { readErrorPage } from '../error-page.ts';
import type { Manifest } from '../manifest.ts';
import { anchor, code, link, table } from '../markdown.ts';
import { meaningOf } from '../words/meaning-of.ts';

/** The codes of errors, with the statuses of an answer without `data`. */
export function describeErrors({ errors }: Manifest): string[] {
  const meanings = Object.fromEntries(readErrorPage().map((documented) => [documented.code, documented.meaning]));
  const rows = Object.entries(errors).map(([name, { status }]) => [
    link(code(name), `../../errors.md${anchor(name)}`),
    String(status['application/graphql-response+json']),
    String(status['application/json']),
    meaningOf(meanings, name),
  ]);
  return [
    '## Errors',
    'An error has a `message` for people, and in `extensions` a `code` for programs, the `requestId` and a `documentationUrl`. The status of an answer without `data` depends on its media type; an answer with `data`, in which a single field failed, is 200. Codes may be added: treat one that you do not know by its status. What a mutation refuses for a foreseen reason is in the `userErrors` of its payload instead.',
    table(['code', '`graphql-response+json`', '`json`', 'meaning'], rows),
  ];
}
