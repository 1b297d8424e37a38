import { exampleFindings } from '@deedwire/webhook-diagnosis';
import { link, page } from './markdown.ts';

/** The page about what `verify` finds in a captured request, with an anchor for each code. */
export function findingsPage(): string {
  return page('Findings', [
    `What \`deedwire-operator webhook verify\` and ${link('`deedwire-webhook-receiver verify`', '../../../packages/webhook-receiver/README.md')} find in a request whose signature a receiver rejects, and what to do. Names and numbers in these texts are examples.`,
    ...[...Map.groupBy(exampleFindings(), ({ code }) => code)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([code, findings]) => [
        `## ${code}`,
        ...findings.map(({ problem, remedy }) => `**${problem}** ${remedy}`),
      ]),
  ]);
}
