import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callOperator } from '@deedwire/dev-environment/test/firm/harness';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../../support/workspace-copy.ts';

const pages = globSync(['README.md', 'docs/**/*.md', '{apps,packages}/*/README.md', 'deploy/*.md'], {
  cwd: workspaceRoot,
}).filter((page) => !page.startsWith('docs/reference/'));

/** A line with another one that its end continues counts as one. A command ends where a shell or a sentence would end it. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(workspaceRoot, page), 'utf8').replaceAll('\\\n', ' ');
  return [...text.matchAll(/\bdeedwire-operator ([a-z-]+ [a-z-]+[^`\n|;&()]*)/g)].map(([, command = '']) => command);
}

const helps = new Map<string, string>();

async function helpOf(words: readonly string[]): Promise<string> {
  const key = words.join(' ');
  const known = helps.get(key) ?? (await callOperator({}, ...words, '--help')).stdout;
  helps.set(key, known);
  return known;
}

/** Why a command cannot be run as it stands. Null if it can. */
async function problemOf(command: string): Promise<string | null> {
  const words = command.split(/\s+/);
  const names = words.slice(0, /^(?:cell split|portal session) /.test(command) ? 3 : 2);
  const help = await helpOf(names);
  if (!help.startsWith(`Usage: deedwire-operator ${names.join(' ')} `)) return 'no such command';
  const known = new Set(help.match(/--[a-z-]+/g));
  const unknown = words.flatMap((word) => /^--[a-z-]+/.exec(word) ?? []).filter((option) => !known.has(option));
  return unknown.length > 0 ? `no option ${unknown.join(', ')}` : null;
}

test('every command of the operator that a page shows exists, with its options', async () => {
  const shown = pages.flatMap((page) => commandsOf(page).map((command) => ({ page, command })));
  expect(shown.length).toBeGreaterThan(150);
  const wrong: string[] = [];
  for (const { page, command } of shown) {
    const problem = await problemOf(command);
    if (problem !== null) wrong.push(`${page}: deedwire-operator ${command}: ${problem}`);
  }
  expect(wrong).toEqual([]);
});
