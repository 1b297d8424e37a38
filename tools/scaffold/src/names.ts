import { ScaffoldError } from './scaffold-error.ts';

export interface EventName {
  /** For example `team_member.added`. */
  readonly type: string;
  /** For example `team member`. */
  readonly noun: string;
  /** For example `added`. */
  readonly past: string;
  /** The noun as a field, for example `teamMember`. */
  readonly field: string;
  /** The noun as the name of a record type, for example `TeamMember`. */
  readonly recordType: string;
  /** The title of the payload, for example `TeamMemberAdded`. */
  readonly title: string;
}

const grammar = /^([a-z][a-z0-9]*(?:_[a-z0-9]+)*)\.([a-z][a-z0-9]*(?:_[a-z0-9]+)*)$/;

/** Past participles that end neither in -ed nor in -en or -wn. */
const irregular =
  /(?:^|_)(?:re|un|pre|with|over)?(?:begun|bought|bound|brought|built|cut|done|found|gone|held|kept|left|lent|lost|made|met|paid|put|read|run|sent|set|sold|spent|split|won)$/;

/** @throws {ScaffoldError} when the name is not `<noun>.<past participle>` */
export function parseEventName(type: string): EventName {
  const [, noun = '', past = ''] = grammar.exec(type) ?? [];
  if (noun === '')
    throw new ScaffoldError(
      `${JSON.stringify(type)} is not the name of an event type. Write <noun>.<past participle> in lower case, with _ between words, for example team_member.added.`,
    );
  if (!/(?:ed|en|wn)$/.test(past) && !irregular.test(past))
    throw new ScaffoldError(
      `${JSON.stringify(past)} is not a past participle. An event reports what has happened, for example referral.converted. If the form is irregular, add it to tools/scaffold/src/names.ts.`,
    );
  const recordType = pascalCase(noun);
  return {
    type,
    noun: noun.replaceAll('_', ' '),
    past: past.replaceAll('_', ' '),
    field: camelCase(recordType),
    recordType,
    title: titleOf(type),
  };
}

/** The title of the payloads of an event type, for example `TeamMemberAdded`. */
export function titleOf(type: string): string {
  return pascalCase(type.replace('.', '_'));
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function camelCase(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** The name of a version in code, for example `teamMemberAdded20261101`. */
export function identifierOf(type: string, date: string): string {
  return `${camelCase(titleOf(type))}${compact(date)}`;
}

/** For example `20261101`. */
export function compact(date: string): string {
  return date.replaceAll('-', '');
}

/**
 * Checks the date of a new version.
 *
 * @param newest the newest existing version, or null if there is none
 * @param today `YYYY-MM-DD` in UTC
 * @throws {ScaffoldError} when it is not a date, has passed, or is not later than the newest version
 */
export function checkDate(date: string, newest: string | null, today: string): void {
  const parsed = new Date(`${date}T00:00:00Z`);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(parsed.getTime());
  if (!isDate || parsed.toISOString().slice(0, 10) !== date)
    throw new ScaffoldError(`${JSON.stringify(date)} is not a date. Write it as YYYY-MM-DD.`);
  if (date < today) throw new ScaffoldError(`${date} is in the past. Today is ${today} in UTC.`);
  if (newest !== null && date <= newest)
    throw new ScaffoldError(`${date} is not later than the newest version, ${newest}.`);
}
