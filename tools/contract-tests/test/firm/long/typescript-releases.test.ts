import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InstalledPackages } from '../../support/installed-packages.ts';
import { compile, installWithCompilers } from '../support/typescript-consumer.ts';

// `test/full` contains the newest release. Here are all that docs/es-modules.md names, 7 included: it compiles this workspace.
const releases = ['5.7.3', '5.8.3', '5.9.3', '6.0.3', 'of this workspace'] as const;

let project: InstalledPackages;

beforeAll(async () => {
  project = await installWithCompilers(['5.6.3', '5.7.3', '5.8.3', '5.9.3', '6.0.3']);
});

afterAll(() => project.remove());

describe.each([
  ['an ES module', releases],
  ['a bundled module', releases],
  ['a CommonJS module', releases.slice(1)],
  ['a CommonJS module of node20', releases.slice(2)],
  ['an application of node10', releases.slice(0, 3)],
  ['an application of node10 with the option of TypeScript 6', ['6.0.3']],
] as const)('the published declarations compile in %s', (kind, supported) => {
  test.each(supported)('with TypeScript %s', async (compiler) => {
    expect(await compile(project, compiler, kind)).toBe('');
  });
});

// 5.7 is the first release with `Uint8Array<ArrayBuffer>`, and 5.8 the first in which a CommonJS module can import an ES module.
test.each([
  ['5.6.3', 'an ES module', 'TS2315'],
  ['5.7.3', 'a CommonJS module', 'TS1479'],
  ['5.8.3', 'a CommonJS module of node20', 'TS6046'],
  ['5.9.3', 'a module of node10', 'TS2307'],
  ...releases.map((release) => [release, 'a CommonJS module of node16', 'TS1479'] as const),
] as const)('but not with TypeScript %s in %s, as docs/es-modules.md says', async (compiler, kind, code) => {
  await expect(compile(project, compiler, kind)).rejects.toThrow(`error ${code}`);
});
