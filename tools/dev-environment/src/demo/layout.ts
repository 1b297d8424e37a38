const segmenter = new Intl.Segmenter();

/** Cuts a line to at most `width` characters, of which the last is `…`. Keeps a letter and its accents together. */
export function cut(line: string, width: number): string {
  if (line.length <= width) return line;
  const characters = Array.from(segmenter.segment(line), ({ segment }) => segment);
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`;
}

/** The columns that a description needs beside the words that it describes. */
const minWidth = 20;

/** A name and one value, which is an id, a signature or a token if it is long; or what each response ends with. */
const canBeCut = /^ *(?:\S+(?: \S+)?|extensions: .*)$/;

/**
 * Breaks a line at spaces into lines of at most `width` characters. They begin in the column of the prose: behind the spaces at the
 * start of the line, or behind two spaces that separate it from the words before. Ids and signatures are cut.
 */
export function fit(line: string, width: number): string[] {
  if (line.length <= width || canBeCut.test(line)) return [cut(line, width)];
  const [before = ''] = /^.*\S {2,}|^ */.exec(line) ?? [];
  const isBeside = before.trim() === '' || before.length <= width - minWidth;
  const indent = ' '.repeat(isBeside ? before.length : 4);
  const [first = '', ...words] = line.slice(before.length).split(' ');
  const lines = isBeside ? [before + first] : [before.trimEnd(), indent + first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines.map((each) => cut(each, width));
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
