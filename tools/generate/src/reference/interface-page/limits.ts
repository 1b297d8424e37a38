import { descriptionOf } from '../descriptions/description-of.ts';
import { limitValue, limitDescriptions } from '../descriptions/limits.ts';
import type { Remark } from '../history.ts';
import type { Manifest } from '../manifest.ts';
import { code, table } from '../markdown.ts';

/** The limits, under their names in the manifest. */
export function describeLimits({ limits, pagination }: Manifest, remark: Remark): string[] {
  const { firstMinimum, firstMaximum, firstDefault } = pagination;
  const rows = Object.entries(limits).map(([name, value]) => [
    code(name),
    limitValue(name, value),
    descriptionOf(limitDescriptions, name) + remark(`/limits/${name}`, null),
  ]);
  return [
    '## Limits',
    `A limit never becomes stricter within a version, except to protect the service; the changelog of the version lists such a change. \`first\` of a list is ${firstMinimum} to ${firstMaximum} and defaults to ${firstDefault}.`,
    table(['name', 'value', 'description'], rows),
  ];
}
