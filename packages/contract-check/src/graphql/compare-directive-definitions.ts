import { compareMembers } from '../compare-members.ts';
import { onlyIn } from '../only-in.ts';
import { compareDocumented } from './compare-documented.ts';
import { compareInputs } from './compare-inputs.ts';
import { withRules, type Comparison } from './comparison.ts';
import { isExecutable, type DirectiveDefinition } from './contract.ts';
import { graphqlRules } from './rules.ts';

export function compareDirectiveDefinitions(comparison: Comparison): void {
  const { found } = comparison;
  // No operation can apply the directive.
  const ofSdl = withRules(comparison, (rule) =>
    rule.verdict === 'major' ? graphqlRules.sdlDirectiveRestricted : rule,
  );
  compareMembers(comparison.from.directives, comparison.to.directives, {
    removed(name, directive) {
      const rule = isExecutable(directive) ? graphqlRules.directiveRemoved : graphqlRules.sdlDirectiveRestricted;
      found(rule, `@${name}`, 'The directive was removed.');
    },
    added: (name) => found(graphqlRules.directiveAdded, `@${name}`, 'The directive was added.'),
    kept: (_, before, after) => compareDefinition(isExecutable(before) ? comparison : ofSdl, before, after),
  });
}

function compareDefinition(comparison: Comparison, from: DirectiveDefinition, to: DirectiveDefinition): void {
  const { found } = comparison;
  const coordinate = `@${from.name}`;
  for (const location of onlyIn(from.locations, to.locations))
    found(graphqlRules.directiveLocationRemoved, coordinate, `It may no longer be applied at ${location}.`);
  for (const location of onlyIn(to.locations, from.locations))
    found(graphqlRules.directiveLocationAdded, coordinate, `It may now be applied at ${location}.`);
  if (from.repeatable && !to.repeatable) {
    found(graphqlRules.directiveRepeatableRemoved, coordinate, 'It is no longer repeatable.');
  }
  if (!from.repeatable && to.repeatable)
    found(graphqlRules.directiveRepeatableAdded, coordinate, 'It is now repeatable.');
  compareInputs(comparison, 'argument', from.args, to.args, (name) => `${coordinate}(${name}:)`);
  compareDocumented(comparison, coordinate, from, to, 'both');
}
