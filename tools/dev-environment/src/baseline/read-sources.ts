/** What PostgreSQL does not keep of the text of migrations. The last one counts. */
export interface Sources {
  /** The comment on an object, without the dashes. */
  commentOn(object: string): string[];
  /** The text of a check with a name. Null if it has none, or is written in another way. */
  check(name: string): string | null;
  /** What a function of SQL without quotes returns. */
  returned(name: string): string[] | null;
}

const declarations: readonly [RegExp, (name: string) => string][] = [
  [/^create (?:or replace )?(?:function|procedure) (?:\{schema\}\.)?(\w+)/, (name) => `routine ${name}`],
  [/^create table (\w+)/, (name) => `relation ${name}`],
  [/^create view (\w+)/, (name) => `relation ${name}`],
  [/^create sequence (\w+)/, (name) => `relation ${name}`],
  [/^create (?:unique )?index (?:concurrently )?(?:if not exists )?(\w+)/, (name) => `relation ${name}`],
  [/^create type (\w+)/, (name) => `type ${name}`],
];

/** Reads comments that stand directly before what they are about. One that begins with "As before" says only what changed. */
export function readSources(files: readonly string[]): Sources {
  const comments = readComments(files);
  const text = files.join('\n');
  const last = (pattern: string) => [...text.matchAll(new RegExp(pattern, 'g'))].at(-1)?.[1] ?? null;
  return {
    commentOn: (object) => changedComments[object] ?? comments.get(object) ?? [],
    check: (name) =>
      dedent(
        last(
          `constraint ${name}\\s+(check \\((?:'[^']*'|[^()']|\\((?:'[^']*'|[^()']|\\((?:'[^']*'|[^()']|\\([^()]*\\))*\\))*\\))*\\))`,
        ),
      ),
    returned: (name) =>
      last(`create (?:or replace )?function (?:\\{schema\\}\\.)?${name}\\([^;$]*?\\n\\s*(return[^;]*);`)
        ?.split('\n')
        .map((line) => line.replace(/^ {4}/, '')) ?? null,
  };
}

/** The lines after the first one stand in a declaration. */
function dedent(text: string | null): string | null {
  if (text === null) return null;
  const [first = '', ...rest] = text.split('\n');
  const by = Math.min(...rest.map((line) => line.search(/\S/)));
  return [first, ...rest.map((line) => line.slice(by))].join('\n');
}

/** Where those of the migrations tell what they changed, or name the law firm. */
const changedComments: Readonly<Record<string, string[]>> = {
  'relation account': [],
  'routine forget_keys_of_person': [
    'Deletes the keys of a record of a person that contain one of the values that its results are known by. Compares letters and digits only, and',
    'first lower-cases ASCII: in a Turkish locale, "I" is not a capital "i". If they are fewer than five, they have to be whole words.',
  ],
};

function readComments(files: readonly string[]): Map<string, string[]> {
  const known = new Map<string, string[]>();
  for (const sql of files) {
    let comment: string[] = [];
    // Of the table whose columns are read.
    let table: string | null = null;
    for (const line of sql.split('\n').map((each) => each.trim())) {
      if (line.startsWith('--')) {
        if (!/^-- (?:squawk-|no transaction)/.test(line)) comment.push(line.slice(3));
        continue;
      }
      table =
        /^(?:create|alter) table (\w+)(?: \($|$)/.exec(line)?.[1] ??
        (line === '' || line.startsWith(')') ? null : table);
      const object = objectOf(line, table);
      if (object !== null && comment.length > 0 && !comment[0]?.startsWith('As before')) known.set(object, comment);
      comment = [];
    }
  }
  return known;
}

function objectOf(line: string, table: string | null): string | null {
  for (const [pattern, name] of declarations) {
    const [, found] = pattern.exec(line) ?? [];
    if (found !== undefined) return name(found);
  }
  const [, column] = /^(?:add column )?(\w+) /.exec(line) ?? [];
  return table === null || column === undefined ? null : `column ${table}.${column}`;
}
