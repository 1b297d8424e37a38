import { readFileSync } from 'node:fs';

/** The variables that contain a secret. Each can come from a file, so that it is not in the environment of the process. */
const secretVariables: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'NEW_CELL_DATABASE_URL',
  'SMTP_URL',
  'WEBHOOK_PROXY_URL',
  'WEBHOOK_SECRET',
  'WEBHOOK_SECRET_KEYS',
]);

/** The text of a variable without surrounding whitespace, or null if it is not set; or why it cannot be read. */
export type ReadVariable = { value: string | null; problem: null } | { value: null; problem: string };

/** Reads a variable, or the file that `<name>_FILE` names if the variable contains a secret. */
export function readVariable(name: string, env: Readonly<Record<string, string | undefined>>): ReadVariable {
  const value = textOrNull(env[name]);
  const fileName = `${name}_FILE`;
  const path = secretVariables.has(name) ? textOrNull(env[fileName]) : null;
  if (path === null) return { value, problem: null };
  if (value !== null) return { value: null, problem: `${fileName} and ${name} are both set; set one of them` };
  try {
    const content = textOrNull(readFileSync(path, 'utf8'));
    if (content === null) return { value: null, problem: `${fileName} names ${path}, which is empty` };
    return { value: content, problem: null };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { value: null, problem: `${fileName} names ${path}, which cannot be read: ${reason}` };
  }
}

function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}
