import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** What the files of a folder may import besides each other. `engine.ts` connects the folders. */
const allowed: Record<string, readonly string[]> = {
  kernel: [],
  fence: ['kernel'],
  outbox: ['kernel'],
  subscriptions: ['kernel', 'fence', 'outbox'],
  dispatch: ['kernel', 'fence'],
  'fan-out': ['kernel', 'fence', 'subscriptions'],
  workers: ['kernel', 'fence'],
  replay: ['kernel', 'fence'],
  retention: ['kernel'],
  exchanges: ['kernel'],
};

function importsOf(folder: string): { file: string; target: string }[] {
  const files = globSync(`${folder}/**/*.ts`, { cwd: import.meta.dirname }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  expect(files).not.toEqual([]);
  return files.flatMap((file) =>
    Array.from(
      readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g),
      ([, path = '']) => ({ file, target: join(dirname(file), path) }),
    ),
  );
}

test.each(Object.keys(allowed))('%s imports only what it may', (folder) => {
  const folders = [folder, ...(allowed[folder] ?? [])];
  const others = importsOf(folder).filter(({ target }) => !folders.some((each) => target.startsWith(`${each}/`)));
  expect(others).toEqual([]);
});
