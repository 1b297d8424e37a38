import { compareVerdicts, largerVerdict, type Verdict } from './verdict.ts';

/** One difference between two versions of a contract. */
export interface Change {
  readonly verdict: Verdict;
  /**
   * Where: a GraphQL schema coordinate (`Query.lender(id:)`, `@tag`), a path into the instance that a JSON Schema
   * describes (`$.data.items[*].id`), or a JSON Pointer into a manifest (`/limits/first`).
   */
  readonly coordinate: string;
  /** What is different, with the old and the new value. */
  readonly message: string;
  /** Why that asks for this bump. */
  readonly why: string;
}

export interface Report {
  /** The largest verdict of all changes; `none` without any. */
  readonly verdict: Verdict;
  /** Largest verdict first, then by coordinate and message. */
  readonly changes: readonly Change[];
}

/** A line of a rule table. A rule's `why` is its own: it tells which rule made a change. */
export interface Rule {
  /** What it speaks of, as a table's row says it. */
  readonly what: string;
  readonly verdict: Verdict;
  readonly why: string;
}

export function changeBy(rule: Rule, coordinate: string, message: string): Change {
  return { verdict: rule.verdict, coordinate, message, why: rule.why };
}

export function largestVerdict(changes: readonly Change[]): Verdict {
  return changes.reduce<Verdict>((largest, change) => largerVerdict(largest, change.verdict), 'none');
}

/** Drops repetitions and puts the changes in an order that depends on nothing but what they say. */
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

// By code unit: the same on every machine, whatever its locale.
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
