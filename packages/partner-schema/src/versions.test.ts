import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import packageManifest from '../package.json' with { type: 'json' };
import { UnknownVersionError } from './unknown-version-error.ts';
import { sdl, versions } from './versions.ts';

const root = join(import.meta.dirname, '..');

// Literals, so that adding, changing or removing a version has to be confirmed here.
test('lists the versions with their status, oldest first', () => {
  expect(versions).toEqual([{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null }]);
});

test('publishes these exports', () => {
  expect(packageManifest.publishConfig.exports).toEqual({
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    // The wildcards cover every dated version: a new version needs no new entry.
    './2*': { types: './dist/generated/2*.d.ts', default: './dist/generated/2*.js' },
    './2*.graphql': './versions/2*.graphql',
    './2*.manifest.json': './versions/2*.manifest.json',
  });
});

test('exports the same paths in the workspace as in the published package', () => {
  const withoutSources = Object.entries(packageManifest.exports).map(([path, target]) => {
    if (typeof target === 'string') return [path, target];
    const { 'deedwire-source': _, ...published } = target;
    return [path, published];
  });
  expect(Object.fromEntries(withoutSources)).toEqual(packageManifest.publishConfig.exports);
});

test('throws UnknownVersionError with the supported versions for an unknown version', () => {
  for (const version of ['2026-11-02', '', 'toString']) {
    expect(() => sdl(version)).toThrow(UnknownVersionError);
    expect(() => sdl(version)).toThrow(expect.objectContaining({ code: 'UNKNOWN_VERSION', supported: ['2026-11-01'] }));
  }
});

test('has files only for the versions that it lists', () => {
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
  test('returns the SDL file byte for byte', () => {
    expect(sdl(version)).toBe(readFileSync(join(root, `versions/${version}.graphql`), 'utf8'));
  });

  test('documents the page sizes of the manifest in the SDL', () => {
    const manifest = JSON.parse(readFileSync(join(root, `versions/${version}.manifest.json`), 'utf8'));
    const connections = Object.values(buildSchema(sdl(version)).getQueryType()?.getFields() ?? {}).flatMap((field) =>
      field.args.filter(({ name }) => name === 'first'),
    );
    expect(connections).not.toEqual([]);
    for (const { default: first, description } of connections) {
      expect(first).toMatchObject({ literal: { value: String(manifest.pagination.firstDefault) } });
      expect(description).toBe(
        `Number of items to return, from ${manifest.pagination.firstMinimum} to ${manifest.pagination.firstMaximum}. Defaults to ${manifest.pagination.firstDefault}; null selects the default.`,
      );
    }
  });
});
