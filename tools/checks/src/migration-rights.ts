import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The first migration that works in a database without roles of apps. Those before it are as they were released. */
const firstWithoutRoles = '0103';

/** The names of roles after one of these words. Those of `%I` and `{role}` are known when the statement runs. */
const role = String.raw`((?:"[^"]+"|[%{]?[\w.]+\}?)(?:\s*,\s*(?:"[^"]+"|[%{]?[\w.]+\}?))*)`;
const namingRoles = [
  new RegExp(String.raw`\bgrant\b[^;]*?\bto\s+${role}`, 'gi'),
  new RegExp(String.raw`\brevoke\b[^;]*?\bfrom\s+${role}`, 'gi'),
  new RegExp(String.raw`\b(?:create|alter)\s+policy\b[^;]*?\bto\s+${role}`, 'gi'),
  new RegExp(String.raw`\b(?:create|alter|drop)\s+(?:role|user|group)\s+${role}`, 'gi'),
  new RegExp(String.raw`\b(?:owner\s+to|set\s+role|owned\s+by)\s+${role}`, 'gi'),
];

/** What asks which roles there are. */
const asksForRoles = /\b(?:to_regrole|role_of_app|has_role)\s*\(|\bregrole\b/;

const functionName = String.raw`(?:function|procedure)\s+(?:\{schema\}\.|\w+\.)?(\w+)\s*\(`;
const created = new RegExp(String.raw`\bcreate\s+(or\s+replace\s+)?${functionName}`, 'gi');
const revoked =
  /\brevoke\s+(?:execute|all(?:\s+privileges)?)\s+on\s+(?:function|procedure|routine)s?\s+([^;]*?)\s+from\s+public\b/gi;
const revokesAll = /\brevoke\s+(?:execute|all(?:\s+privileges)?)\s+on\s+all\s+(?:functions|routines)\s+in\s+schema\b/i;

/**
 * Why a migration fails in a database without roles of apps, or lets every login call a function: one sentence each.
 *
 * @param earlier the texts of the migrations before it
 */
export function migrationProblems(text: string, earlier: readonly string[] = []): string[] {
  const sql = withoutComments(text);
  const named = namingRoles.flatMap((pattern) => [...sql.matchAll(pattern)]);
  const roles = named.flatMap(({ index, 0: statement, 1: names = '' }) =>
    names
      .split(/\s*,\s*/)
      .filter((name) => !isKnownLater(name, bodyAround(sql, index + statement.length)))
      .map((name) => `it names the role ${name}; grant by for_app(), shared_right and shared_policy`),
  );
  const shared = /\bselect\s+grant_shared_rights\b(?![^;]*\bhas_role\s*\()/i.test(sql)
    ? ["it calls grant_shared_rights() for every interface; add: where has_role(name || '-api')"]
    : [];
  const before = new Set(earlier.flatMap((file) => createdIn(withoutComments(file)).map(({ name }) => name)));
  const closed = new Set(
    [...sql.matchAll(revoked)].flatMap(([, list = '']) => list.match(/\w+(?=\s*(?:\(|,|$))/g) ?? []),
  );
  const open = createdIn(sql).filter(({ name, replaces }) => !closed.has(name) && !(replaces && before.has(name)));
  return [
    ...new Set([
      ...roles,
      ...shared,
      ...(revokesAll.test(sql) ? [] : open).map(
        ({ name }) => `every login may call ${name}(); add: revoke execute on function ${name} from public`,
      ),
    ]),
  ];
}

/** As `migrationProblems`, of all migrations from the first one that works without roles. */
export function migrationsProblems(folder: string, names: readonly string[]): string[] {
  const files = names.map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
  return files.flatMap(({ name, text }, index) =>
    name < firstWithoutRoles
      ? []
      : migrationProblems(
          text,
          files.slice(0, index).map((file) => file.text),
        ).map((problem) => `${name}: ${problem}`),
  );
}

const withoutComments = (sql: string): string => sql.replaceAll(/--.*$/gm, '');

function createdIn(sql: string): { name: string; replaces: boolean }[] {
  return [...sql.matchAll(created)].map(([, replaces, name = '']) => ({ name, replaces: replaces !== undefined }));
}

function isKnownLater(name: string, body: string): boolean {
  if (name.toLowerCase() === 'public' || name === '{role}') return true;
  return name.startsWith('%') && asksForRoles.test(body);
}

/** The outermost dollar-quoted text that a position is in. Empty if it is in none. */
function bodyAround(sql: string, position: number): string {
  for (const { index, 0: body } of sql.matchAll(/(\$\w*\$)[\s\S]*?\1/g))
    if (index < position && position <= index + body.length) return body;
  return '';
}
