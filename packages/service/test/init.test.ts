import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileIn, createApplication, deedwireIn } from './application.ts';

let folder: string;
beforeEach(async () => {
  folder = await createApplication({ name: '@acme/clinic', type: 'module' });
});
afterEach(() => rm(folder, { recursive: true }));

const deedwire = (...command: string[]) => deedwireIn(folder, ...command);
const own = ['--own', '--interface', 'patient'];
const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
const write = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text);

test('`init --own` in TypeScript writes an interface that `generate`, `check` and the compiler accept at once', async () => {
  await write('tsconfig.json', '{}');
  await write('package.json', '{\n    "type": "module",\n    "devDependencies": { "zx": "8" }\n}\n');
  const { code, output } = await deedwire('init', ...own);
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
  const files = [
    'service.ts',
    'patient/own/2026-11-01.graphql',
    'patient/own/2026-11-01.manifest.json',
    'patient/2026-11-01.ts',
    'dev.env',
    '.gitignore',
  ];
  const written = files.map((file) => `wrote  deedwire/${file}\n`).join('');
  expect(output.startsWith(`${written}added  @graphql-codegen/typescript in package.json\n\nSet DATABASE_URL`)).toBe(
    true,
  );
  expect(output).toContain('\nnpm install   ');
  expect(await read('package.json')).toBe(
    `{\n    "type": "module",\n    "devDependencies": {\n        "@graphql-codegen/typescript": "^6.1.0",\n        "zx": "8"\n    }\n}\n`,
  );

  const generated = await deedwire('generate');
  expect(generated.code).toBe(0);
  for (const file of [
    'events/order.paid/2026-11-01.json',
    'patient/2026-11-01.graphql',
    'patient/generated/2026-11-01.ts',
  ])
    expect(generated.output).toContain(`wrote  deedwire/${file}\n`);
  expect(await deedwire('check')).toEqual({ code: 0, output: expect.stringMatching(/^ok /) });
  expect(await compileIn(folder)).toBe('');
});

test('`init --own` in JavaScript needs no library', async () => {
  const before = await read('package.json');
  const { output } = await deedwire('init', ...own);
  expect(output).toContain('wrote  deedwire/patient/2026-11-01.mjs\n');
  expect(output).not.toContain('npm install   ');
  expect(await read('package.json')).toBe(before);
  expect((await deedwire('generate')).code).toBe(0);
  expect(await deedwire('check')).toEqual({ code: 0, output: expect.stringMatching(/^ok /) });
});

test('`init --own` keeps the files and the dependencies that are there, and names the line that is missing', async () => {
  await write('tsconfig.json', '{}');
  await deedwire('init', '--interface', 'patient');
  await write('package.json', '{"type":"module","dependencies":{"@graphql-codegen/typescript":"6.1.0"}}');
  const service = await read('deedwire/service.ts');
  const { code, output } = await deedwire('init', ...own);
  expect(code).toBe(0);
  expect(output).toContain('kept   deedwire/service.ts\n');
  expect(output).toContain('kept   @graphql-codegen/typescript in package.json\n');
  expect(await read('package.json')).toBe('{"type":"module","dependencies":{"@graphql-codegen/typescript":"6.1.0"}}');
  expect(await read('deedwire/service.ts')).toBe(service);
  const line = "versions: { '2026-11-01': { serve: () => import('./patient/2026-11-01.ts') } }";
  expect(output).toContain(
    `deedwire/service.ts was there before. In it, let the interface patient serve the module:\n${line}\n`,
  );

  await write('deedwire/service.ts', service.replace("versions: { '2026-11-01': {} }", line));
  expect((await deedwire('generate')).output).toContain('wrote  deedwire/patient/2026-11-01.graphql\n');
  expect(await deedwire('check')).toEqual({ code: 0, output: expect.stringMatching(/^ok /) });
  expect((await deedwire('init', ...own)).output).not.toContain('was there before');
});

test('`init` names the folder that has no package.json', async () => {
  await rm(join(folder, 'package.json'));
  expect(await deedwire('init', ...own)).toEqual({
    code: 1,
    output: `error: ${folder} has no package.json. Run the command in the folder of the application.\n`,
  });
  expect(existsSync(join(folder, 'deedwire'))).toBe(false);
});

test.each([
  ['is not JSON', '{ "name": "clinic", }', 'package.json cannot be read: '],
  ['is a list', '[]', 'package.json cannot be read: it is not a JSON object. Nothing was written.'],
])('`init` writes nothing if package.json %s', async (_, text, problem) => {
  await write('package.json', text);
  await write('tsconfig.json', '{}');
  expect(await deedwire('init', ...own)).toEqual({ code: 1, output: expect.stringContaining(problem) });
  expect(existsSync(join(folder, 'deedwire'))).toBe(false);
  expect(await read('package.json')).toBe(text);
});

test.each(['../patient', 'Patient', 'patients_of_clinic', ''])(
  '`init` writes nothing for the interface %j',
  async (name) => {
    expect(await deedwire('init', '--own', '--interface', name)).toEqual({
      code: 1,
      output: `error: An interface cannot have the name ${name}. It consists of lowercase words with hyphens between them, 31 characters at most.\n`,
    });
    expect(existsSync(join(folder, 'deedwire'))).toBe(false);
  },
);

test('`init --own` in TypeScript writes nothing beside an older graphql of the application', async () => {
  await mkdir(join(folder, 'node_modules/graphql'), { recursive: true });
  await write('node_modules/graphql/package.json', '{ "name": "graphql", "version": "16.15.0" }');
  await write('tsconfig.json', '{}');
  expect(await deedwire('init', ...own)).toEqual({
    code: 1,
    output: expect.stringContaining(`error: graphql 16.15.0 is installed in ${folder}, and GraphQL Codegen`),
  });
  expect(existsSync(join(folder, 'deedwire'))).toBe(false);
  // No library writes types of JavaScript.
  await rm(join(folder, 'tsconfig.json'));
  expect((await deedwire('init', ...own)).code).toBe(0);
});
