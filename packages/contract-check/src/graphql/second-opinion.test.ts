import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Verdict } from '../verdict.ts';

// Compares the verdicts with the criticality levels of GraphQL Inspector. The snapshots list the cases that differ.

interface Case {
  what: string;
  from: string;
  to: string;
  verdict: Verdict;
}

const cases: Case[] = JSON.parse(readFileSync(new URL('../corpus/graphql.json', import.meta.url), 'utf8'));

async function levelsOf({ from, to }: Case): Promise<Set<CriticalityLevel>> {
  const changes = await diff(buildSchema(from, { assumeValidSDL: true }), buildSchema(to, { assumeValidSDL: true }));
  return new Set(changes.map(({ criticality }) => criticality.level));
}

const opinions = await Promise.all(cases.map(async (each) => ({ ...each, levels: await levelsOf(each) })));

test('every change that GraphQL Inspector calls breaking is major, except for these', () => {
  const milder = opinions.filter(({ levels, verdict }) => levels.has(CriticalityLevel.Breaking) && verdict !== 'major');
  expect(milder.map(({ what, verdict }) => `${verdict}: ${what}`)).toMatchSnapshot();
});

test('GraphQL Inspector calls every major change breaking, except for these', () => {
  const missed = opinions.filter(
    ({ levels, verdict }) => !levels.has(CriticalityLevel.Breaking) && verdict === 'major',
  );
  expect(missed.map(({ what }) => what)).toMatchSnapshot();
});

test('no change that GraphQL Inspector finds is none, except for these', () => {
  const unseen = opinions.filter(({ levels, verdict }) => levels.size > 0 && verdict === 'none');
  expect(unseen.map(({ what }) => what)).toMatchSnapshot();
});
