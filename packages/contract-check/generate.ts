import { writeFileSync } from 'node:fs';
import { rulesById } from './src/rules.ts';

// The ids of the rules, which only gain entries, because overrides and exceptions name them.
const rules = [...rulesById.keys()].toSorted();
writeFileSync(new URL('rule-ids.json', import.meta.url), `${JSON.stringify({ rules }, null, 2)}\n`);
