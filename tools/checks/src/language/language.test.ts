import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../run.ts';
import { bannedPhrases } from './banned-phrases.ts';
import { proseOf } from './prose.ts';

/** How often a file may contain a phrase. Only remove entries, or lower them: to write a new text, use another phrase. */
const exceptions: Record<string, Record<string, number>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'exceptions.json'), 'utf8'),
);

/** The maximum of all exceptions together. Lower it with them. */
const exceptionsMax = 2;

const written = /\.(?:[cm]?[jt]sx?|graphql|json|md|py|service|sh|sql|ya?ml)$/;

/**
 * What is generated, recorded, published or applied before, so that it changes with its source or not at all; and the files that list the
 * phrases.
 */
const left =
  /(?:^|\/)(?:CHANGELOG\.md$|generated\/|fixtures\/|corpus\/|recorded-responses\/|results\/)|\.response\.json$|^docs\/reference\/|^docs\/terms\.md$|^packages\/[\w-]+-schema\/versions\/|^packages\/[\w-]+\/(?:api|asyncapi|json-schema)\/|^packages\/store\/migrations\/|^tools\/checks\/src\/language\/|^pnpm-lock\.yaml$/;

const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: workspaceRoot,
  encoding: 'utf8',
});
const files = listed
  .split('\0')
  .filter((file) => written.test(file) && !left.test(file) && existsSync(join(workspaceRoot, file)));

interface Found {
  file: string;
  phrase: string;
  /** `path:line: phrase → what to write`, for each place. */
  places: string[];
}

const found: Found[] = files.flatMap((file) => {
  const text = readFileSync(join(workspaceRoot, file), 'utf8');
  // Most files have none, and their prose need not be found.
  const candidates = bannedPhrases.filter(({ pattern }) => text.search(pattern) !== -1);
  if (candidates.length === 0) return [];
  const prose = proseOf(file, text);
  return candidates.map(({ phrase, pattern, instead }) => ({
    file,
    phrase,
    places: Array.from(prose.matchAll(pattern), ({ index }) => {
      const line = prose.slice(0, index).split('\n').length;
      return `${file}:${line}: "${phrase}" → ${instead}`;
    }),
  }));
});

test('texts use the terms of docs/terms.md, and none of the banned phrases', () => {
  expect(files.length).toBeGreaterThan(1_000);
  const wrong = found.flatMap(({ file, phrase, places }) =>
    places.length > (exceptions[file]?.[phrase] ?? 0) ? places : [],
  );
  expect(wrong).toEqual([]);
});

test('every exception is used', () => {
  const unused = Object.entries(exceptions).flatMap(([file, phrases]) =>
    Object.entries(phrases).flatMap(([phrase, count]) => {
      const used = found.find((each) => each.file === file && each.phrase === phrase)?.places.length ?? 0;
      return used < count ? [`${file}: "${phrase}" occurs ${used} times: lower the exception to this`] : [];
    }),
  );
  expect(unused).toEqual([]);
});

test('no exception is added', () => {
  const all = Object.values(exceptions).flatMap((phrases) => Object.values(phrases));
  expect(all.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(exceptionsMax);
});
