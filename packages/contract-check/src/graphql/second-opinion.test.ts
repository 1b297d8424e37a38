import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Verdict } from '../verdict.ts';

// GraphQL Inspector finds much of what we find, by other code. Where the two differ, we want to know why.

interface Case {
  what: string;
  from: string;
  to: string;
  verdict: Verdict;
}

const cases: Case[] = JSON.parse(readFileSync(new URL('../../corpus/graphql.json', import.meta.url), 'utf8'));

async function levelsOf({ from, to }: Case): Promise<Set<CriticalityLevel>> {
  const changes = await diff(buildSchema(from), buildSchema(to));
  return new Set(changes.map(({ criticality }) => criticality.level));
}

const opinions = await Promise.all(cases.map(async (each) => ({ ...each, levels: await levelsOf(each) })));

test('what it calls breaking is major, but for these', () => {
  const milder = opinions.filter(({ levels, verdict }) => levels.has(CriticalityLevel.Breaking) && verdict !== 'major');
  expect(milder.map(({ what, verdict }) => `${verdict}: ${what}`)).toMatchSnapshot();
});

test('what is major it calls breaking, but for these', () => {
  const missed = opinions.filter(
    ({ levels, verdict }) => !levels.has(CriticalityLevel.Breaking) && verdict === 'major',
  );
  expect(missed.map(({ what }) => what)).toMatchSnapshot();
});

test('what it sees is never none, but for these', () => {
  const unseen = opinions.filter(({ levels, verdict }) => levels.size > 0 && verdict === 'none');
  expect(unseen.map(({ what }) => what)).toMatchSnapshot();
});
