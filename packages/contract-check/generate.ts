import { readFileSync, writeFileSync } from 'node:fs';
import { withRulesTables } from './rules-tables.ts';

const file = new URL('README.md', import.meta.url);
writeFileSync(file, withRulesTables(readFileSync(file, 'utf8')));
