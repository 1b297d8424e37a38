/** The longest line of the baseline. */
export const lineLength = 140;

const quoted = /('(?:[^']|'')*'|"[^"]*")/;

/** Writes what PostgreSQL prints as the migrations write it. Its identifiers are lowercase. */
export function simplify(sql: string): string {
  return sql
    .replaceAll(/= ANY \(ARRAY\[([^[\]]*)\]\)/g, 'in ($1)')
    .split(quoted)
    .map((part, index) => (index % 2 === 1 ? part : part.toLowerCase()))
    .join('')
    .replaceAll(/('(?:[^']|'')*')::(?:text|bigint|regclass|name)(?![\w[])/g, '$1')
    .replaceAll('timestamp(3) with time zone', 'timestamptz(3)')
    .replaceAll('timestamp with time zone', 'timestamptz')
    .replaceAll(/ 00:00:00\+00'/g, "Z'")
    .replaceAll('::timestamptz', '')
    .replaceAll(/(\w+) >= ('[^']*'|-?\d+) and \1 <= ('[^']*'|-?\d+)/g, '$1 between $2 and $3')
    .replaceAll(/\binteger\b/g, 'int');
}

/** Writes the schema as the placeholder of a baseline. */
export const inSchema = (text: string): string =>
  text.replaceAll(/public\.(?=[a-z_%"])/g, '{schema}.').replaceAll("'public'", '{schema_text}');

export const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

export const comment = (lines: readonly string[]): string[] => lines.map((line) => (line === '' ? '--' : `-- ${line}`));

export const heading = (title: string): string[] => {
  const rule = `-- ${'-'.repeat(lineLength - 3)}`;
  return [rule, `-- ${title}`, rule, ''];
};

/** With an empty line after them, if there are some. */
export const withBlank = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : [...lines, '']);

/** Breaks a long line at its last space before the limit that is not in quotes. */
export function wrap(line: string, max = lineLength - 4): string[] {
  if (line.includes('\n')) return line.split('\n');
  if (line.length <= max) return [line];
  const spaces = [...line.matchAll(/ /g)].map(({ index }) => index);
  const place = spaces.findLast((at) => at <= max && (line.slice(0, at).match(/'/g) ?? []).length % 2 === 0);
  return place === undefined || place < 20
    ? [line]
    : [line.slice(0, place), ...wrap(`  ${line.slice(place + 1)}`, max)];
}

/** Lines of names with commas between them. */
export function fill(names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const [index, name] of names.entries()) {
    const text = index < names.length - 1 ? `${name},` : name;
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length < lineLength - 4) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}
