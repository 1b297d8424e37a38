import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { examplesPerRule, tablesWithExamples } from './src/cli/rule-examples.ts';

// Part of the build: copies what `explain` shows, about a third of the cases of the corpus, to dist.

const [from, to] = [new URL('src/corpus/', import.meta.url), new URL('dist/corpus/', import.meta.url)];
mkdirSync(to, { recursive: true });
/** Expected verdicts. `explain` has them from the rules. */
const hidden = ['verdict', 'producer', 'consumer'];
for (const table of tablesWithExamples) {
  const cases: { rule?: string }[] = JSON.parse(readFileSync(new URL(`${table}.json`, from), 'utf8'));
  const byRule = Map.groupBy(cases, ({ rule }) => rule);
  byRule.delete(undefined);
  const copied = [...byRule.values()].flatMap((ofRule) => ofRule.slice(0, examplesPerRule));
  for (const each of copied) for (const name of hidden) Reflect.deleteProperty(each, name);
  writeFileSync(new URL(`${table}.json`, to), JSON.stringify(copied));
}
