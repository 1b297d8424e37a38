/** The width of lines in a file or a pipe, which have none of their own. */
const defaultWidth = 100;

/** The number of columns of a terminal. 100 for a file or a pipe. */
export function outputWidth(stream: { readonly columns?: number }): number {
  // A pseudo terminal whose size was never set has 0 columns.
  return stream.columns === undefined || stream.columns === 0 ? defaultWidth : stream.columns;
}

const segmenter = new Intl.Segmenter();

/** Cuts a line to at most `width` characters, of which the last is `…`. Keeps a letter and its accents together. */
export function cut(line: string, width: number): string {
  if (line.length <= width) return line;
  const characters = Array.from(segmenter.segment(line), ({ segment }) => segment);
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`;
}

/**
 * Formats JSON for reading. An object or array is on one line if it fits, otherwise each member has its own line. An
 * only member stays on the line of its parent. A string or number can be longer than `width`. A text that is not JSON
 * is kept unchanged.
 */
export function layoutJson(text: string, width: number): string[] {
  const value = parseJson(text);
  return value === undefined ? text.split('\n') : layoutValue('', value, width);
}

/** Shows a GraphQL document as written, without the escapes of JSON, then its variables. */
export function layoutGraphqlRequest(
  query: string,
  variables: Record<string, unknown> | undefined,
  width: number,
): string[] {
  const document = query.split('\n');
  return variables === undefined ? document : [...document, ...layoutValue('variables: ', variables, width)];
}

/** Shows `data` and `errors` as {@link layoutJson} does. `extensions` is always on one line, which can be longer. */
export function layoutGraphqlResponse(text: string, width: number): string[] {
  const response = parseJson(text);
  if (typeof response !== 'object' || response === null) return text.split('\n');
  return Object.entries(response).flatMap(([name, value]) =>
    name === 'extensions' ? [`${name}: ${oneLine(value)}`] : layoutValue(`${name}: `, value, width),
  );
}

/** Undefined for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function layoutValue(prefix: string, value: unknown, width: number): string[] {
  const line = `${prefix}${oneLine(value)}`;
  if (line.length <= width || typeof value !== 'object' || value === null) return [line];
  const [open, close, gap] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    Array.isArray(value) ? '' : `${JSON.stringify(name)}: `,
    member,
  ]);
  const [only] = members;
  if (only !== undefined && members.length === 1) {
    const lines = layoutValue(`${prefix}${open}${gap}${only[0]}`, only[1], width - close.length - gap.length);
    return appendToLast(lines, `${gap}${close}`);
  }
  const lines = members.flatMap(([name, member], index) => {
    // Two columns of indentation, one for the comma.
    const memberLines = layoutValue(name, member, width - 3).map((text) => `  ${text}`);
    return index === members.length - 1 ? memberLines : appendToLast(memberLines, ',');
  });
  return [`${prefix}${open}`, ...lines, close];
}

function appendToLast(lines: readonly string[], end: string): string[] {
  return lines.map((line, index) => (index === lines.length - 1 ? `${line}${end}` : line));
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
