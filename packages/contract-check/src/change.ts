import { compareVerdicts, largerVerdict, type Verdict } from './verdict.ts';

/** One difference between two versions of a contract. */
export interface Change {
  readonly verdict: Verdict;
  /** The name of the rule that decided the verdict: `fieldRemoved`. An exception names it. */
  readonly rule: string;
  /**
   * The place of the change: a GraphQL schema coordinate (`Query.lender(id:)`, `@tag`), a path into the instance that a
   * JSON Schema describes (`$.data.items[*].id`), a JSON Pointer into a manifest (`/limits/first`), or the version.
   */
  readonly coordinate: string;
  /** The difference, with the old and the new value. */
  readonly message: string;
  /** The reason for the verdict: which clients the change affects, and how. */
  readonly why: string;
}

export interface Report {
  /** The largest verdict of all changes. `none` when there are no changes. */
  readonly verdict: Verdict;
  /** Largest verdict first, then by coordinate and message. */
  readonly changes: readonly Change[];
}

/** One row of a rule table. */
export interface RuleText {
  /** A noun clause, for the first column of the README's table. */
  readonly what: string;
  readonly verdict: Verdict;
  readonly why: string;
}

export interface Rule extends RuleText {
  readonly name: string;
}

/** Gives each rule its key as its name. */
export function named<T extends object, Name extends string>(
  rules: Readonly<Record<Name, T>>,
): Readonly<Record<Name, T & { readonly name: string }>>;
export function named(rules: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, { ...rule, name }]));
}

export function changeBy(rule: Rule, coordinate: string, message: string): Change {
  return { verdict: rule.verdict, rule: rule.name, coordinate, message, why: rule.why };
}

export function largestVerdict(changes: readonly Change[]): Verdict {
  return changes.reduce<Verdict>((largest, change) => largerVerdict(largest, change.verdict), 'none');
}

/** Removes duplicates and sorts. The order depends only on the changes, not on the order in which they were found. */
export function report(found: readonly Change[]): Report {
  const unique = new Map(found.map((change) => [`${change.coordinate}\n${change.message}\n${change.why}`, change]));
  const changes = [...unique.values()].toSorted(
    (a, b) =>
      compareVerdicts(b.verdict, a.verdict) ||
      compareText(a.coordinate, b.coordinate) ||
      compareText(a.message, b.message),
  );
  return { verdict: largestVerdict(changes), changes };
}

// By code unit, so that the order does not depend on the locale.
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
