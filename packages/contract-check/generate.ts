import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { ruleIds, rulePages } from './rule-pages.ts';

const folder = new URL('docs/rules/', import.meta.url);
rmSync(folder, { recursive: true, force: true });
for (const [path, text] of rulePages()) {
  const file = new URL(path, folder);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}

writeFileSync(new URL('rule-ids.json', import.meta.url), ruleIds());
