import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documentationAt } from './documentation.ts';
import { errorTable } from './errors/error-table.ts';

const { error } = documentationAt(new URL('../../../docs', import.meta.url).href);

const errors = (Object.keys(errorTable) as (keyof typeof errorTable)[]).map(error);

test.each(errors)('%s links to a heading that exists', (url) => {
  const [page = '', anchor] = url?.split('#') ?? [];
  const headings = readFileSync(new URL(page), 'utf8').matchAll(/^#+ (.+)$/gm);
  expect([...headings].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'))).toContain(anchor);
});
