import { readFileSync } from 'node:fs';

/** The members of a JSON object in a file that is not a contract, such as `package.json`. Empty if the file is missing or invalid. */
export function readJsonObject(file: string): Readonly<Record<string, unknown>> {
  try {
    return jsonObjectIn(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Empty if the text is invalid. */
export function jsonObjectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
