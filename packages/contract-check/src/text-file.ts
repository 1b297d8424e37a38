import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorField, failAt } from './input-error.ts';

/** A text and the file name that errors about it show. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** Reads another file by its path relative to this one, with `/` as the separator. Omitted if other files cannot be read. */
  readonly readRelative?: (path: string) => SourceText;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'file not found',
  ELOOP: 'is a link that leads to itself',
  EISDIR: 'is a folder, not a file',
  EACCES: 'permission denied',
};

export function readSourceText(file: string): SourceText {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = errorField(error, 'code') || 'unknown error';
    if (code === 'ENOENT' && isThere(file)) failAt(file, 'is a link that leads nowhere', { cause: error });
    failAt(file, problems[code] ?? `cannot be read (${code})`, { cause: error });
  }
  return {
    file,
    text: decodeSourceText(file, bytes),
    readRelative: (path) => readSourceText(join(dirname(file), path)),
  };
}

/** Null if nothing has this name. A link that leads nowhere, or to itself, is an error. */
export function readIfThere(file: string): SourceText | null {
  return isThere(file) ? readSourceText(file) : null;
}

/** True also of a folder that may not be searched: reading the file then says so. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** The SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Decodes UTF-8 and drops a byte order mark. */
export function decodeSourceText(file: string, bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    failAt(file, 'is not valid UTF-8', { cause: error });
  }
  if (text.startsWith('version https://git-lfs.github.com/spec/'))
    failAt(file, 'is a pointer of Git LFS, not the file itself. Run git lfs pull');
  return text;
}
