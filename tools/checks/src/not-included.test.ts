import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

/** Claims that something is missing. They stay on a page after it was built. `docs/not-included.md` is the only list. */
const claim =
  /\b(?:cannot|does not|do not|there is no \w+) yet\b|coming soon|\bnot (?:yet )?(?:supported|implemented|available|built)(?: yet| today)\b/i;

const pages = globSync(['*.md', '{docs,deploy,examples}/**/*.md', '{apps,packages,tools}/*/{README.md,docs/**/*.md}'], {
  cwd: workspaceRoot,
  exclude: ['**/node_modules', 'docs/not-included.md'],
});
const contracts = globSync('packages/*-schema/versions/*.graphql', { cwd: workspaceRoot });

test.each([...pages, ...contracts])('%s does not say what is missing', (page) => {
  const lines = readFileSync(join(workspaceRoot, page), 'utf8').split('\n');
  expect(lines.filter((line) => claim.test(line))).toEqual([]);
});

test.each(['It cannot yet send a delivery again.', 'Windows is not supported yet.', 'There is no portal yet.'])(
  'recognizes "%s"',
  (text) => expect(text).toMatch(claim),
);
