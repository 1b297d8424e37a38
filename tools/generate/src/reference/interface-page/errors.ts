import { descriptionOf } from '../descriptions/description-of.ts';
import { readErrorPage } from '../error-page.ts';
import type { Remark } from '../history.ts';
import type { Manifest } from '../manifest.ts';
import { anchor, code, link, table } from '../markdown.ts';

/** The error codes, with the HTTP statuses of a response without `data`. */
export function describeErrors({ errors }: Manifest, remark: Remark): string[] {
  const meanings = Object.fromEntries(readErrorPage().map((documented) => [documented.code, documented.meaning]));
  const rows = Object.entries(errors).map(([name, { status }]) => [
    link(code(name), `../../errors.md${anchor(name)}`),
    String(status['application/graphql-response+json']),
    String(status['application/json']),
    descriptionOf(meanings, name) + remark(`/errors/${name}`, null),
  ]);
  return [
    '## Errors',
    'An error has a `message` for people. Its `extensions` contain a `code` for programs, the `requestId` and a `documentationUrl`. The HTTP status of a response without `data` depends on the media type. A response with `data` in which one field failed has status 200. New codes can appear: handle an unknown code by its HTTP status. If a mutation rejects its input, the reasons are in the `userErrors` of its payload.',
    table(['code', '`graphql-response+json`', '`json`', 'meaning'], rows),
  ];
}
