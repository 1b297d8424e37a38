import { readFileSync } from 'node:fs';
import type { RuleTable } from '../change.ts';

/** A case of the corpus, as far as `explain` shows it. */
export interface RuleExample {
  readonly what: string;
  /** The name of the rule in its table. Undefined if the case shows that nothing is reported. */
  readonly rule?: string;
  readonly reason: string;
  /** SDL as a string, or a JSON value. */
  readonly from: unknown;
  readonly to: unknown;
  readonly closedOutputs?: boolean;
  readonly directives?: Readonly<Record<string, string>>;
  readonly existing?: readonly string[];
}

/** The tables whose rules have cases in the corpus. */
export const tablesWithExamples: readonly RuleTable[] = ['graphql', 'json-schema', 'manifest'];
export const examplesPerRule = 2;

/** The first cases of a rule in the corpus. Empty if the corpus has no cases of its table. */
export function examplesOf(id: string): RuleExample[] {
  const table = tablesWithExamples.find((name) => id.startsWith(`${name}/`));
  if (table === undefined) return [];
  // The build copies these cases, so that the same path leads to them in dist.
  const corpus = new URL(`../corpus/${table}.json`, import.meta.url);
  const cases: RuleExample[] = JSON.parse(readFileSync(corpus, 'utf8'));
  return cases.filter(({ rule }) => `${table}/${rule}` === id).slice(0, examplesPerRule);
}
