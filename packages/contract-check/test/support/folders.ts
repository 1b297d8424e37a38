import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'contract-check-'));
}

/** An empty folder, which is removed after the tests of the file. */
export function folderForFile(): string {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** An empty folder, which is removed after the test. */
export function folderForTest(): string {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes a file, and the folders around it. Objects are written as JSON. Returns the path of the file. */
export function writeIn(folder: string, path: string, content: object | string | Uint8Array): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  const isWritten = typeof content === 'string' || content instanceof Uint8Array;
  writeFileSync(file, isWritten ? content : JSON.stringify(content));
  return file;
}

/** Path → content. Null removes the file or the folder. */
export type Files = Readonly<Record<string, object | string | null>>;

export function writeAllIn(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) rmSync(join(folder, path), { recursive: true });
    else writeIn(folder, path, content);
  }
}
