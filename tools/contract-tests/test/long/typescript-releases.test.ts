import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InstalledPackages } from '../support/installed-packages.ts';
import { compile, installWithCompilers } from '../support/typescript-consumer.ts';

// `test/full` contains the oldest release that the READMEs name, and the newest one.
let project: InstalledPackages;

beforeAll(async () => {
  project = await installWithCompilers('5.6.3', '5.7.3', '5.8.3', '5.9.3', '6.0.3');
});

afterAll(() => project.remove());

test.each([
  ['5.8.3', 'an ES module'],
  ['5.8.3', 'a bundled module'],
  ['5.9.3', 'an ES module'],
  ['5.9.3', 'a CommonJS module'],
  ['5.9.3', 'a bundled module'],
  ['6.0.3', 'an ES module'],
  ['6.0.3', 'a CommonJS module'],
  ['6.0.3', 'a bundled module'],
] as const)('the published declarations compile with TypeScript %s in %s', async (compiler, kind) => {
  expect(await compile(project, compiler, kind)).toBe('');
});

// 5.7 is the first release with `Uint8Array<ArrayBuffer>`, and 5.8 the first in which a CommonJS module can import an ES module.
test.each([
  ['5.6.3', 'an ES module', 'TS2315'],
  ['5.7.3', 'a CommonJS module', 'TS1479'],
] as const)('but not with TypeScript %s in %s, which is older than the READMEs say', async (compiler, kind, code) => {
  await expect(compile(project, compiler, kind)).rejects.toThrow(`error ${code}`);
});
