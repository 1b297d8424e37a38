import type { AppName } from './app-process.ts';

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };
const prefixWidth = 'webhook-worker'.length;
const unsaid = new Set(['level', 'time', 'name', 'msg', 'pid', 'hostname']);

/** An app's JSON log line for a reader at a terminal; what is not JSON stays as it is. */
export function formatLogLine(app: AppName, line: string): string {
  const prefix = app.padEnd(prefixWidth);
  const record = parseRecord(line);
  if (!record) return `${prefix}  ${line}`;
  const level = (levels[Number(record['level'])] ?? '').padEnd(5);
  const details = Object.entries(record)
    .filter(([name]) => !unsaid.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [`${prefix}  ${level}`, typeof record['msg'] === 'string' ? record['msg'] : '', ...details].join(' ');
}

function parseRecord(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
