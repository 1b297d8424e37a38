import { expect, test } from 'vitest';
import { readTable, readText, readTexts, schemas } from '../test/support/pages.ts';

// The ways to send deliveries again, of docs/webhook-did-not-arrive.md.

const rows = readTable('docs/webhook-did-not-arrive.md', 'what');

/** What a column names, in code spans or in bold. */
function named(column: number, form: RegExp): string[] {
  const names = rows.flatMap((cells) => [...(cells[column] ?? '').matchAll(form)].map(([, name = '']) => name));
  return [...new Set(names)];
}

test('each mutation exists in every version of every interface', () => {
  const mutations = named(1, /`(\w+)`/g);
  expect(mutations.length).toBeGreaterThan(3);
  const unknown = mutations.filter((mutation) => !schemas.every((sdl) => sdl.includes(`\n  ${mutation}(\n`)));
  expect(unknown).toEqual([]);
});

test('the portal has each button', () => {
  const pages = readTexts('packages/portal/src/**/*.tsx').join('\n');
  const buttons = named(2, /\*\*(.+?)\*\*/g);
  expect(buttons.length).toBeGreaterThan(3);
  expect(buttons.filter((label) => !new RegExp(`['"\`>{ ]${label}\\b`).test(pages))).toEqual([]);
});

test('the kit has each call', () => {
  const api = readText('packages/webhook-receiver/api/index.api.json');
  const calls = named(3, /`(\w+)`/g);
  expect(calls.length).toBeGreaterThan(3);
  expect(calls.filter((call) => !api.includes(`"${call}"`))).toEqual([]);
});

test('the operator CLI has each command', () => {
  const commands = named(4, /`(\w+ [\w-]+)`/g);
  expect(commands.length).toBeGreaterThan(3);
  const unknown = commands.filter((command) => {
    const [noun = '', verb = ''] = command.split(' ');
    return !readText(`packages/operator/src/commands/${noun}.ts`).includes(`'${verb}'`);
  });
  expect(unknown).toEqual([]);
});
