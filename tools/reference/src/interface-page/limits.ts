import type { Manifest } from '../manifest.ts';
import { code, table } from '../markdown.ts';
import { limitValue, limitWords } from '../words/limits.ts';
import { meaningOf } from '../words/meaning-of.ts';

/** The limits, by their names in the manifest. */
export function describeLimits({ limits, pagination }: Manifest): string[] {
  const { firstMinimum, firstMaximum, firstDefault } = pagination;
  const rows = Object.entries(limits).map(([name, value]) => [
    code(name),
    limitValue(name, value),
    meaningOf(limitWords, name),
  ]);
  return [
    '## Limits',
    `Within a version no limit becomes narrower. \`first\` of a list is ${firstMinimum} to ${firstMaximum}, and ${firstDefault} when left out.`,
    table(['name', 'value', 'what it is about'], rows),
  ];
}
