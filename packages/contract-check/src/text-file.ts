import { readFileSync } from 'node:fs';
import { InputError } from './input-error.ts';

/** A text with the name that its errors carry. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read',
};

export function readSourceText(file: string): SourceText {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new InputError(file, null, problems[code] ?? `cannot be read (${code})`, { cause: error });
  }
  return { file, text: decodeSourceText(file, bytes) };
}

/** UTF-8, with or without a byte order mark. */
export function decodeSourceText(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new InputError(file, null, 'is not UTF-8', { cause: error });
  }
}
