import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { installRelease } from './install-release.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'install-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const install = (release: string, text: string, isReplaced = false): Promise<boolean> =>
  installRelease(folder, release, { isReplaced, write: async (target) => writeFileSync(join(target, 'text'), text) });
const current = (): string => readFileSync(join(folder, 'current/text'), 'utf8');

test('a release that exists is made the current one, and none of its files changes', async () => {
  expect(await install('a', 'first')).toBe(true);
  expect(await install('b', 'other')).toBe(true);
  expect(await install('a', 'second')).toBe(false);
  expect(current()).toBe('first');
  expect(readlinkSync(join(folder, 'previous'))).toBe('b');
});

test('an interrupted call changes no link, and the next call writes the release anew', async () => {
  await install('a', 'first');
  const interrupted = installRelease(folder, 'b', {
    isReplaced: false,
    write: async (target) => {
      writeFileSync(join(target, 'half'), '');
      throw new Error('interrupted');
    },
  });
  await expect(interrupted).rejects.toThrow('interrupted');
  expect(current()).toBe('first');
  expect(await install('b', 'second')).toBe(true);
  expect(current()).toBe('second');
  expect(readdirSync(join(folder, 'b'))).toEqual(['text']);
  expect(readdirSync(folder).toSorted()).toEqual(['a', 'b', 'current', 'previous']);
});

test('a release whose content can differ under one name is replaced', async () => {
  await install('a-modified', 'first', true);
  expect(await install('a-modified', 'second', true)).toBe(true);
  expect(current()).toBe('second');
});
