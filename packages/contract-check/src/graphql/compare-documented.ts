import type { ConstDirectiveNode } from 'graphql';
import { compareAppliedDirectives } from './compare-applied-directives.ts';
import type { Comparison } from './comparison.ts';
import type { Documented } from './contract.ts';
import type { Position } from './exposure.ts';
import { graphqlRules } from './rules.ts';

/** Compares the description, the deprecation and the applied directives of one schema element. */
export function compareDocumented(
  comparison: Comparison,
  coordinate: string,
  from: Documented,
  to: Documented,
  position: Position,
): void {
  compareDescriptions(comparison, coordinate, from.description, to.description);
  compareDeprecations(comparison, coordinate, from, to);
  compareAppliedDirectives(comparison, coordinate, from, to, position);
}

export function compareDescriptions(
  { found }: Comparison,
  coordinate: string,
  from: string | null,
  to: string | null,
): void {
  if (from === to) return;
  let what = 'changed';
  if (from === null) what = 'added';
  if (to === null) what = 'removed';
  found(graphqlRules.descriptionChanged, coordinate, `The description was ${what}.`);
}

function compareDeprecations({ found }: Comparison, coordinate: string, from: Documented, to: Documented): void {
  const before = deprecationReason(from.applied);
  const after = deprecationReason(to.applied);
  if (before === after) return;
  if (before === null) found(graphqlRules.deprecated, coordinate, `It was deprecated: ${after}`);
  else if (after === null) found(graphqlRules.deprecationRevoked, coordinate, 'It is no longer deprecated.');
  else {
    const message = `The deprecation reason changed from "${before}" to "${after}".`;
    found(graphqlRules.deprecationReasonChanged, coordinate, message);
  }
}

/** Null if the element is not deprecated. */
function deprecationReason(applied: readonly ConstDirectiveNode[]): string | null {
  const directive = applied.find(({ name }) => name.value === 'deprecated');
  if (directive === undefined) return null;
  const reason = directive.arguments?.find(({ name }) => name.value === 'reason')?.value;
  return reason?.kind === 'StringValue' ? reason.value : 'No longer supported';
}
