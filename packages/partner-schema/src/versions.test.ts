import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import packageManifest from '../package.json' with { type: 'json' };
import { UnknownVersionError } from './unknown-version-error.ts';
import { sdl, versions } from './versions.ts';

const root = join(import.meta.dirname, '..');

// Literals: whoever adds, moves or removes a version says so here too.
test('the versions are these', () => {
  expect(versions).toEqual([{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null }]);
});

test('the published exports are these', () => {
  expect(packageManifest.publishConfig.exports).toEqual({
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    // Of each dated version: nothing is to be added here for another.
    './2*': { types: './dist/generated/2*.d.ts', default: './dist/generated/2*.js' },
    './2*.graphql': './versions/2*.graphql',
    './2*.manifest.json': './versions/2*.manifest.json',
  });
});

test('the workspace sees the same exports', () => {
  const withoutSources = Object.entries(packageManifest.exports).map(([path, target]) => {
    if (typeof target === 'string') return [path, target];
    const { 'deedwire-source': _, ...published } = target;
    return [path, published];
  });
  expect(Object.fromEntries(withoutSources)).toEqual(packageManifest.publishConfig.exports);
});

test('an unknown version is refused by name', () => {
  for (const version of ['2026-11-02', '', 'toString']) {
    expect(() => sdl(version)).toThrow(UnknownVersionError);
    expect(() => sdl(version)).toThrow(expect.objectContaining({ code: 'UNKNOWN_VERSION', supported: ['2026-11-01'] }));
  }
});

test('there are files for the registered versions only', () => {
  const dates = versions.map(({ version }) => version);
  expect(readdirSync(join(root, 'versions')).toSorted()).toEqual(
    dates.flatMap((date) => [`${date}.graphql`, `${date}.manifest.json`]),
  );
  expect(readdirSync(join(root, 'src/generated')).toSorted()).toEqual([
    ...dates.map((date) => `${date}.ts`),
    'contracts.ts',
  ]);
});

describe.each(versions)('$version', ({ version }) => {
  test('its SDL is the file, byte for byte', () => {
    expect(sdl(version)).toBe(readFileSync(join(root, `versions/${version}.graphql`), 'utf8'));
  });

  test('its manifest says what its SDL says', () => {
    const manifest = JSON.parse(readFileSync(join(root, `versions/${version}.manifest.json`), 'utf8'));
    const connections = Object.values(buildSchema(sdl(version)).getQueryType()?.getFields() ?? {}).flatMap((field) =>
      field.args.filter(({ name }) => name === 'first'),
    );
    expect(connections).not.toEqual([]);
    for (const { default: first, description } of connections) {
      expect(first).toMatchObject({ literal: { value: String(manifest.pagination.firstDefault) } });
      expect(description).toBe(
        `How many to return, ${manifest.pagination.firstMinimum} to ${manifest.pagination.firstMaximum}. Null counts as ${manifest.pagination.firstDefault}.`,
      );
    }
  });
});
