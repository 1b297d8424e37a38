import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { buildSchema, isInterfaceType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';

// The two packages have the same generated modules, so one file tests both.
const packages = [
  {
    name: 'lender',
    schema: lender,
    // Literals: a released version cannot vanish, and a release or a change of a status has to be confirmed here.
    released: [{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null }],
  },
  {
    name: 'partner',
    schema: partner,
    released: [{ version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null }],
  },
];

describe.each(packages)(
  '$name-schema',
  ({ name, schema: { abilities, costs, sdl, UnknownVersionError, versions }, released }) => {
    const root = join(dirname(fileURLToPath(import.meta.resolve(`@deedwire/${name}-schema`))), '..');
    const packageManifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

    const dates = versions.map(({ version }) => version);

    test('lists the released versions with their status', () => {
      expect(versions.filter(({ status }) => status !== 'preview')).toEqual(released);
    });

    test('lists the versions oldest first', () => {
      expect(dates).toEqual(dates.toSorted());
    });

    test('publishes these exports', () => {
      expect(packageManifest.publishConfig.exports).toEqual({
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        // The wildcards cover every dated version: a new version needs no new entry.
        './2*': { types: './dist/generated/2*.d.ts', default: './dist/generated/2*.js' },
        './2*.graphql': './versions/2*.graphql',
        './2*.manifest.json': './versions/2*.manifest.json',
        './package.json': './package.json',
        './versions.json': './versions.json',
      });
    });

    test('exports the same paths in the workspace as in the published package', () => {
      const withoutSources = Object.entries<string | Record<string, string>>(packageManifest.exports).map(
        ([path, target]) => {
          if (typeof target === 'string') return [path, target];
          const { 'deedwire-source': _, ...published } = target;
          return [path, published];
        },
      );
      expect(Object.fromEntries(withoutSources)).toEqual(packageManifest.publishConfig.exports);
    });

    test.each(['2026-11-02', '', 'toString'])('throws UnknownVersionError with the versions for %j', (version) => {
      expect(() => sdl(version)).toThrow(UnknownVersionError);
      expect(() => costs(version)).toThrow(UnknownVersionError);
      expect(() => abilities(version)).toThrow(UnknownVersionError);
      expect(() => sdl(version)).toThrow(expect.objectContaining({ code: 'UNKNOWN_VERSION', supported: dates }));
      expect(() => sdl(version)).toThrow(
        `The ${name} interface has no version ${JSON.stringify(version)}. Use one of: ${dates.join(', ')}.`,
      );
    });

    test('has files only for the versions that it lists', () => {
      expect(readdirSync(join(root, 'versions')).toSorted()).toEqual(
        dates.flatMap((date) => [`${date}.graphql`, `${date}.manifest.json`]),
      );
      expect(readdirSync(join(root, 'src/generated')).toSorted()).toEqual([
        ...dates.map((date) => `${date}.ts`),
        'abilities.ts',
        'costs.ts',
        'manifest.ts',
        'sdl.ts',
        'unknown-version-error.ts',
        'versions.ts',
      ]);
    });

    describe.each(versions)('$version', ({ version }) => {
      test('returns the SDL file byte for byte', () => {
        expect(sdl(version)).toBe(readFileSync(join(root, `versions/${version}.graphql`), 'utf8'));
      });

      test('returns the costs of the manifest, which are about fields of the SDL', () => {
        const manifest = JSON.parse(readFileSync(join(root, `versions/${version}.manifest.json`), 'utf8'));
        expect(costs(version)).toEqual({
          weights: manifest.costWeights,
          listSizes: manifest.costListSizes,
          pageMaximums: manifest.costPageMaximums,
          pageSizeMaximum: manifest.pagination.firstMaximum,
        });
        const fields = Object.values(buildSchema(sdl(version)).getTypeMap())
          .filter((type) => isObjectType(type) || isInterfaceType(type))
          .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
        const priced = Object.keys({
          ...manifest.costWeights,
          ...manifest.costListSizes,
          ...manifest.costPageMaximums,
        });
        expect(priced.filter((coordinate) => !fields.includes(coordinate))).toEqual([]);
      });

      test('returns the abilities of the manifest', () => {
        const manifest = JSON.parse(readFileSync(join(root, `versions/${version}.manifest.json`), 'utf8'));
        expect(abilities(version)).toEqual(manifest.abilities);
      });

      test('documents the page sizes of the manifest in the SDL', () => {
        const manifest = JSON.parse(readFileSync(join(root, `versions/${version}.manifest.json`), 'utf8'));
        const connections = Object.values(buildSchema(sdl(version)).getQueryType()?.getFields() ?? {}).flatMap(
          (field) => field.args.filter((argument) => argument.name === 'first'),
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
  },
);
