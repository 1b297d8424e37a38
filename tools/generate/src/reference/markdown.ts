/** A table that is aligned in a terminal as well. By default, the last column is not padded because it contains sentences. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { isLastPadded = false }: { isLastPadded?: boolean } = {},
): string {
  const cells = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => length(row[column] ?? ''))));
  const isPadded = (column: number): boolean => isLastPadded || column < widths.length - 1;
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => (isPadded(column) ? pad(text, widths[column] ?? 0) : text)).join(' | ')} |`;
  const [header = [], ...body] = cells;
  const rule = widths.map((width, column) => '-'.repeat(isPadded(column) ? width : 3));
  return [line(header), `| ${rule.join(' | ')} |`, ...body.map(line)].join('\n');
}

export function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export function jsonBlock(value: unknown): string {
  return codeBlock('json', JSON.stringify(value, null, 2));
}

export function code(text: string): string {
  return `\`${text}\``;
}

export function link(text: string, target: string): string {
  return `[${text}](${target})`;
}

/** The anchor that GitHub generates for a heading. */
export function anchor(heading: string): string {
  return `#${heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')}`;
}

/** The anchors of a page, in order. */
export function anchorsOf(text: string): string[] {
  const withoutCode = text.replaceAll(/^```.*?^```$/gms, '');
  return [...withoutCode.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading));
}

/** Joins blocks with an empty line between them. Empty blocks are dropped. */
export function page(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Joins the lines of a description. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}

function cell(text: string): string {
  return oneLine(text).replaceAll('|', '\\|');
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(width - length(text));
}

function length(text: string): number {
  return [...text].length;
}
