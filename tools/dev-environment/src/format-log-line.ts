const prefixWidth = 'webhook-worker'.length;
const levelWidth = 'error'.length;
const hiddenFields = new Set(['level', 'time', 'cell', 'name', 'msg', 'pid', 'hostname']);

/** Prefixes a text with its source. Further lines of the text are indented to the same column. */
export function formatLine(source: string, text: string): string {
  return `${source.padEnd(prefixWidth)}  ${text.replaceAll('\n', `\n${' '.repeat(prefixWidth + 2)}`)}`;
}

/** Formats an app's JSON log line for a terminal. A line that is not a JSON object is kept unchanged. */
export function formatLogLine(app: string, line: string): string {
  const record = parseRecord(line);
  if (!record) return formatLine(app, line);
  const level = formatLevel(record['level']).padEnd(levelWidth);
  const message = typeof record['msg'] === 'string' ? record['msg'] : '';
  const details = Object.entries(record)
    .filter(([name, value]) => !hiddenFields.has(name) && value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return formatLine(app, [`${level} `, message, ...details].join(' '));
}

/**
 * True for an info line that `pnpm dev` does not print: every one while the apps start and stop, because they repeat its
 * own messages. Ctrl-C reaches the apps and `pnpm dev` at the same time, so `stopping` can come before `pnpm dev` knows.
 */
export function isRoutineLine(line: string, phase: 'running' | 'starting' | 'stopping'): boolean {
  const record = parseRecord(line);
  if (record?.['level'] !== 'info') return false;
  return phase !== 'running' || record['msg'] === 'stopping' || record['msg'] === 'stopped';
}

/** Warnings and errors are in capitals, so that they stand out without color. */
function formatLevel(level: unknown): string {
  const name = typeof level === 'string' ? level : '';
  return ['warn', 'error', 'fatal'].includes(name) ? name.toUpperCase() : name;
}

function parseRecord(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
