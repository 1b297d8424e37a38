import { compareVerdicts, largerVerdict, type Verdict } from './verdict.ts';

/** A place in a contract file. */
export interface Location {
  /** The file name that the caller passed. */
  readonly file: string;
  /** Counted from 1. Null for the file as a whole. */
  readonly line: number | null;
}

/** Finds the elements of a contract. */
export interface Locator {
  /** The file of the contract, or the first of several. */
  readonly file: string;
  /** Null if the contract does not have the element. */
  locationOf(coordinate: string): Location | null;
  /** The coordinate of the element around an element. Null if the element is at the top. */
  parentOf(coordinate: string): string | null;
}

/** The places of an element in the old and the new contract. */
export function locate(coordinate: string, from: Locator, to: Locator): Places {
  return { location: closest(to, coordinate), oldLocation: from.locationOf(coordinate) };
}

/** The place of an element. Null if it has no line, because the contract does not have it. */
export function locationAt(file: string, line: number | null): Location | null {
  return line === null ? null : { file, line };
}

function closest(locator: Locator, coordinate: string): Location {
  for (let at: string | null = coordinate; at !== null; at = locator.parentOf(at)) {
    const found = locator.locationOf(at);
    if (found !== null) return found;
  }
  return { file: locator.file, line: null };
}

/** One difference between two versions of a contract. */
export interface Change {
  readonly verdict: Verdict;
  /** The stable id of the rule that decided the verdict: `graphql/fieldRemoved`. Overrides and exceptions name it. */
  readonly rule: string;
  /**
   * The place of the change: a GraphQL schema coordinate (`Query.customer(id:)`, `@tag`), a path into the instance that a
   * JSON Schema describes (`$.data.items[*].id`), a JSON Pointer into a manifest (`/limits/first`), or the version.
   */
  readonly coordinate: string;
  /** The difference, with the old and the new value. */
  readonly message: string;
  /** The reason for the verdict: which clients the change affects, and how. */
  readonly why: string;
  /** The place in the new contract: the element, or the closest element around it that exists there. */
  readonly location: Location;
  /** The element in the old contract. Null if it did not exist. */
  readonly oldLocation: Location | null;
  /** Set if the configuration changed the verdict. */
  readonly override?: { readonly verdict: Verdict; readonly reason: string };
}

export type Places = Pick<Change, 'location' | 'oldLocation'>;

/** A change before its lines are known. */
export type UnlocatedChange = Omit<Change, keyof Places>;

/** A part of a contract that the comparison does not understand. It does not fail the check. */
export interface Notice {
  readonly location: Location;
  readonly message: string;
}

/** A notice about a file as a whole. */
export function fileNotice(file: string, message: string): Notice {
  return { location: { file, line: null }, message };
}

/** States what is invalid in an old contract that can be compared nevertheless. */
export function invalidBefore(location: Location, problem: string): Notice {
  return { location, message: `The old version is invalid: ${problem}` };
}

export interface Report {
  /** The largest verdict of all changes. `none` when there are no changes. */
  readonly verdict: Verdict;
  /** Largest verdict first, then by coordinate and message. */
  readonly changes: readonly Change[];
  readonly notices: readonly Notice[];
}

/** One row of a rule table. */
export interface Rule {
  /** Stable: a rule keeps its id when its text or its verdict changes. */
  readonly id: string;
  /** A clause that names the change, for `explain`. */
  readonly what: string;
  readonly verdict: Verdict;
  readonly why: string;
}

const rowOf =
  (verdict: Verdict) =>
  (what: string, why: string): Omit<Rule, 'id'> => ({ what, verdict, why });

/** Rows of a rule table, by their verdict. */
export const [patch, minor, major] = [rowOf('patch'), rowOf('minor'), rowOf('major')] as const;

/** The kinds of contracts, and `version` for versions as a whole. The first part of a rule id. */
export type RuleTable = 'graphql' | 'json-schema' | 'manifest' | 'api' | 'append-only' | 'version';

/** Gives each rule its id: the table and the key. */
export function named<T extends object, Name extends string>(
  table: RuleTable,
  rules: Readonly<Record<Name, T>>,
): Readonly<Record<Name, T & { readonly id: string }>>;
export function named(table: RuleTable, rules: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, { ...rule, id: `${table}/${name}` }]));
}

export function changeBy(rule: Rule, coordinate: string, message: string): UnlocatedChange {
  return { verdict: rule.verdict, rule: rule.id, coordinate, message, why: rule.why };
}

export function largestVerdict(changes: readonly Pick<Change, 'verdict'>[]): Verdict {
  return changes.reduce<Verdict>((largest, change) => largerVerdict(largest, change.verdict), 'none');
}

/** Records a change. */
export type Found = (rule: Rule, coordinate: string, message: string) => void;

/** The report of the changes that `compare` finds, whose coordinates the locators of both contracts resolve. */
export function locatedReport(
  from: Locator,
  to: Locator,
  compare: (found: Found) => void,
  notices: readonly Notice[] = [],
): Report {
  const changes: Change[] = [];
  compare((rule, coordinate, message) => {
    changes.push({ ...changeBy(rule, coordinate, message), ...locate(coordinate, from, to) });
  });
  return report(changes, notices);
}

/** Removes duplicates and sorts. The order depends only on the changes, not on the order in which they were found. */
export function report(found: readonly Change[], notices: readonly Notice[] = []): Report {
  const unique = new Map(found.map((change) => [`${change.coordinate}\n${change.message}\n${change.why}`, change]));
  const changes = [...unique.values()].toSorted(
    (a, b) =>
      compareVerdicts(b.verdict, a.verdict) ||
      compareText(a.coordinate, b.coordinate) ||
      compareText(a.message, b.message),
  );
  // What both contracts contain is reported for the new one.
  const noticed = new Map(notices.map((notice) => [notice.message, notice]));
  return { verdict: largestVerdict(changes), changes, notices: [...noticed.values()] };
}

/** By code unit, so that the order does not depend on the locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
