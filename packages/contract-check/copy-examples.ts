import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { examplesPerRule, tablesWithExamples } from './src/cli/rule-examples.ts';

// Part of the build: copies the cases that `explain` shows, about a third of the corpus, to dist.

const [from, to] = [new URL('src/corpus/', import.meta.url), new URL('dist/corpus/', import.meta.url)];
mkdirSync(to, { recursive: true });
for (const table of tablesWithExamples) {
  const cases: { rule?: string }[] = JSON.parse(readFileSync(new URL(`${table}.json`, from), 'utf8'));
  const byRule = Map.groupBy(cases, ({ rule }) => rule);
  byRule.delete(undefined);
  const copied = [...byRule.values()].flatMap((ofRule) => ofRule.slice(0, examplesPerRule));
  writeFileSync(new URL(`${table}.json`, to), JSON.stringify(copied));
}
