import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runOperator, type Surroundings } from '@deedwire/operator';
import { expect, test } from 'vitest';
import { defineService } from '../src/index.ts';

const ofWorkspace = /deedwire-operator(?!';)|\bpnpm (?:dev|migrate|operator|run|start|build|exec)\b/;

const service = defineService({
  names: {
    service: 'shop',
    product: 'Shop',
    headerPrefix: 'X-Shop',
    userAgent: 'Shop',
    gidNamespace: 'shop',
    apiKeyPrefix: 'sh',
  },
  interfaces: { customer: { title: 'Customer', account: 'Customer', versions: { '2026-11-01': {} } } },
});

/** What the operator CLI of the application prints. */
async function operator(...commandArguments: readonly string[]): Promise<string> {
  const output = new PassThrough();
  const chunks: string[] = [];
  output.on('data', (chunk) => void chunks.push(String(chunk)));
  const streams = { stdin: new PassThrough().end(), stdout: output, stderr: output };
  const surroundings = { env: {}, ...streams, build: { version: '0' } } as unknown as Surroundings;
  await runOperator(async () => ({ service, commands: [] }), surroundings, commandArguments);
  return chunks.join('');
}

test('the help of each operator command names a command that the application can run', async () => {
  const wrong: string[] = [];
  let seen = 0;
  async function visit(path: readonly string[]): Promise<void> {
    const help = await operator(...path, '--help');
    seen += 1;
    if (!help.startsWith(['Usage: npx deedwire operator', ...path].join(' ')) || ofWorkspace.test(help))
      wrong.push(path.join(' '));
    const [, commands = ''] = help.split(/^Commands:$/m);
    for (const [, name = ''] of commands.split('\n\n')[0]?.matchAll(/^ {2}([a-z-]+) /gm) ?? [])
      if (name !== 'help') await visit([...path, name]);
  }
  await visit([]);
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(50);
});

test('errors of the operator CLI name a command that the application can run', async () => {
  expect(await operator('account', 'list')).toContain('or run `npx deedwire dev`.');
  expect(await operator('credential', 'issue')).toContain('See: npx deedwire operator credential issue --help');
});

interface Manifest {
  dependencies?: Readonly<Record<string, string>>;
}

/** The folders of the packages of this workspace that the packed service contains. */
async function packedFolders(folder: string, found = new Set<string>()): Promise<Set<string>> {
  if (found.has(folder)) return found;
  found.add(folder);
  const { dependencies = {} }: Manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies).filter((each) => each.startsWith('@deedwire/')))
    await packedFolders(join(folder, 'node_modules', name), found);
  return found;
}

test('no text of a packed module names a command of the workspace', async () => {
  const wrong: string[] = [];
  let files = 0;
  for (const folder of await packedFolders(join(import.meta.dirname, '..'))) {
    for (const path of await readdir(join(folder, 'src'), { recursive: true })) {
      if (!/\.(?:ts|sql)$/.test(path) || /\.test(-d)?\.ts$/.test(path) || path.includes('vitest')) continue;
      files += 1;
      const text = await readFile(join(folder, 'src', path), 'utf8');
      // Comments are for those who read the source.
      const lines = text.split('\n').filter((line) => !/^\s*(?:\/\/|\/\*|\*|--|#)/.test(line));
      const isList = folder.endsWith('@deedwire/core') && path === 'command-names.ts';
      if (!isList)
        wrong.push(...lines.filter((line) => ofWorkspace.test(line)).map((line) => `${path}: ${line.trim()}`));
    }
  }
  expect(wrong).toEqual([]);
  expect(files).toBeGreaterThan(300);
});
