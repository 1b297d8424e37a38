import { compareDocumented } from './compare-documented.ts';
import { compareInputs } from './compare-inputs.ts';
import { matchByName, type Comparison } from './comparison.ts';
import type { DirectiveDefinition } from './contract.ts';
import { graphqlRules } from './rules.ts';

export function compareDirectiveDefinitions(comparison: Comparison): void {
  const { found } = comparison;
  matchByName(comparison.from.directives, comparison.to.directives, {
    removed({ name }) {
      found(graphqlRules.directiveRemoved, `@${name}`, 'The directive was removed.');
    },
    added({ name }) {
      found(graphqlRules.directiveAdded, `@${name}`, 'The directive was added.');
    },
    kept(before, after) {
      compareDefinition(comparison, before, after);
    },
  });
}

function compareDefinition(comparison: Comparison, from: DirectiveDefinition, to: DirectiveDefinition): void {
  const { found } = comparison;
  const coordinate = `@${from.name}`;
  for (const location of from.locations) {
    if (to.locations.has(location)) continue;
    found(graphqlRules.directiveLocationRemoved, coordinate, `It may not be applied at ${location} any more.`);
  }
  for (const location of to.locations) {
    if (from.locations.has(location)) continue;
    found(graphqlRules.directiveLocationAdded, coordinate, `It may be applied at ${location} too.`);
  }
  if (from.repeatable && !to.repeatable) {
    found(graphqlRules.directiveRepeatableRemoved, coordinate, 'It is not repeatable any more.');
  }
  if (!from.repeatable && to.repeatable) found(graphqlRules.directiveRepeatableAdded, coordinate, 'It is repeatable.');
  compareInputs(comparison, from.args, to.args, (name) => `${coordinate}(${name}:)`);
  compareDocumented(comparison, coordinate, from, to, 'both');
}
