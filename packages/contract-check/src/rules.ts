import { apiRules } from './api/rules.ts';
import { appendOnlyRules } from './append-only/rules.ts';
import type { Rule, RuleTable } from './change.ts';
import { graphqlRules } from './graphql/rules.ts';
import { jsonSchemaRules, type DirectedRule } from './json-schema/rules.ts';
import { manifestRules } from './manifest/rules.ts';
import { workspaceRules } from './workspace/rules.ts';

/** Every rule, by table. */
export const ruleTables: Readonly<Record<RuleTable, readonly (Rule | DirectedRule)[]>> = {
  graphql: Object.values(graphqlRules),
  'json-schema': Object.values(jsonSchemaRules),
  manifest: Object.values(manifestRules),
  api: Object.values(apiRules),
  'append-only': Object.values(appendOnlyRules),
  version: Object.values(workspaceRules),
};

/** Every rule, by id. */
export const rulesById: ReadonlyMap<string, Rule | DirectedRule> = new Map(
  Object.values(ruleTables)
    .flat()
    .map((rule) => [rule.id, rule]),
);
