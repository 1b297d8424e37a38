import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { succeed } from './support/command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const drivers = fileURLToPath(new URL('support/verify', import.meta.url));

interface Vectors {
  secrets: { valid: string[]; invalid: { why: string; secret: string }[] };
  sign: (Body & { name: string; secret: string; nextSecret?: string; timestamp: number; headers: object })[];
  verify: (Body & {
    name: string;
    secrets: string[];
    now: number;
    toleranceSeconds?: number;
    headers: [name: string, value: string][];
    accept?: object;
  })[];
}

interface Body {
  body?: string;
  bodyBase64?: string;
}

type Verdict = 'error' | 'false' | 'true';

interface Case {
  name: string;
  expected: Verdict;
  now: number;
  tolerance: number;
  body: Buffer;
  secrets: readonly string[];
  headers: readonly (readonly [name: string, value: string])[];
}

const vectors: Vectors = JSON.parse(readFileSync(join(root, 'packages/webhook-signing/test-vectors.json'), 'utf8'));
const cases = [...vectors.verify.map(verifyCase), ...vectors.sign.flatMap(signCases), ...secretCases()];

function verifyCase({
  name,
  accept,
  now,
  toleranceSeconds = 300,
  secrets,
  headers,
  ...body
}: Vectors['verify'][0]): Case {
  const expected = accept === undefined ? 'false' : 'true';
  return { name, expected, now, tolerance: toleranceSeconds, body: bytes(body), secrets, headers: joined(headers) };
}

/** What signing produces verifies with the secret, and during a rotation with the next one alone. */
function signCases({ name, timestamp, secret, nextSecret, headers, ...body }: Vectors['sign'][0]): Case[] {
  return [secret, ...(nextSecret === undefined ? [] : [nextSecret])].map((key) => ({
    name: `signed: ${name}`,
    expected: 'true',
    now: timestamp,
    tolerance: 300,
    body: bytes(body),
    secrets: [key],
    headers: Object.entries(headers),
  }));
}

/** An invalid secret is an error even beside the valid one that signed the request. */
function secretCases(): Case[] {
  const { secret, timestamp, headers, ...body } = vectors.sign[0] ?? { secret: '', timestamp: 0, headers: {} };
  const request = { now: timestamp, tolerance: 300, body: bytes(body), headers: Object.entries(headers) };
  return [
    ...vectors.secrets.valid.map((valid): Case => ({
      ...request,
      name: `valid secret ${valid}`,
      expected: 'true',
      secrets: [valid, secret],
    })),
    ...vectors.secrets.invalid.map((invalid): Case => ({
      ...request,
      name: `invalid secret: ${invalid.why}`,
      expected: 'error',
      secrets: [secret, invalid.secret],
    })),
  ];
}

function bytes({ body, bodyBase64 = '' }: Body): Buffer {
  return body === undefined ? Buffer.from(bodyBase64, 'base64') : Buffer.from(body);
}

/** Lower-cases names and joins repeated values, as servers do. */
function joined(pairs: readonly [name: string, value: string][]): [name: string, value: string][] {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const before = values.get(key);
    values.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return [...values];
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** One line for a driver: now, tolerance, body, secrets and headers, separated by tabs. */
function line({ now, tolerance, body, secrets, headers }: Case): string {
  const listed = headers.map(([name, value]) => `${name}:${base64(value)}`);
  return [now, tolerance, body.toString('base64'), secrets.map(base64).join(), listed.join()].join('\t');
}

interface Language {
  name: string;
  /** What has to be installed. */
  programs: readonly string[];
  /** The verifier, from the root of the repository. */
  file: string;
  /** Its path in the folder of the program. Defaults to its name. */
  copiedTo?: string;
  driver: string;
  /** Other files of the program. */
  files?: Readonly<Record<string, string>>;
  build?: readonly string[];
  run: readonly [program: string, ...parameters: string[]];
}

const languages: Language[] = [
  {
    name: 'Python',
    programs: ['python3'],
    file: 'examples/receiver-python/verify.py',
    driver: 'driver.py',
    run: ['python3', 'driver.py'],
  },
  {
    name: 'Go',
    programs: ['go'],
    file: 'examples/verify/go/verify.go',
    copiedTo: 'webhook/verify.go',
    driver: 'driver.go',
    files: { 'go.mod': 'module verify\n\ngo 1.19\n' },
    build: ['go', 'build', '-o', 'driver', '.'],
    run: ['./driver'],
  },
  {
    name: 'PHP',
    programs: ['php'],
    file: 'examples/verify/php/verify.php',
    driver: 'driver.php',
    run: ['php', '-d', 'display_errors=stderr', 'driver.php'],
  },
  {
    name: 'Ruby',
    programs: ['ruby'],
    file: 'examples/verify/ruby/verify.rb',
    driver: 'driver.rb',
    run: ['ruby', 'driver.rb'],
  },
  {
    name: 'Java',
    programs: ['javac', 'java'],
    file: 'examples/verify/java/WebhookVerifier.java',
    driver: 'Driver.java',
    build: ['javac', 'WebhookVerifier.java', 'Driver.java'],
    run: ['java', '-cp', '.', 'Driver'],
  },
  {
    name: 'C#',
    programs: ['mcs', 'mono'],
    file: 'examples/verify/csharp/WebhookVerifier.cs',
    driver: 'Driver.cs',
    build: ['mcs', '-out:driver.exe', 'WebhookVerifier.cs', 'Driver.cs'],
    run: ['mono', 'driver.exe'],
  },
];

// oxlint-disable-next-line node/no-process-env -- the PATH names the installed programs
const { PATH = '', CI } = process.env;

function isInstalled(program: string): boolean {
  return PATH.split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function isSkipped({ name, programs }: Language): boolean {
  const absent = programs.filter((program) => !isInstalled(program));
  // CI installs Python. A test there fails without it.
  if (absent.length === 0 || (name === 'Python' && CI === 'true')) return false;
  process.stdout.write(
    `contract-tests: no ${absent.join(' and no ')} on the PATH, the ${name} verifier is not tested\n`,
  );
  return true;
}

/** Builds the program of a language in a folder. */
async function build(
  { file, copiedTo, driver, files = {}, build: command = [] }: Language,
  folder: string,
): Promise<void> {
  const copy = join(folder, copiedTo ?? file.split('/').at(-1) ?? '');
  await mkdir(dirname(copy), { recursive: true });
  await copyFile(join(root, file), copy);
  await copyFile(join(drivers, driver), join(folder, driver));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const [program, ...parameters] = command;
  if (program !== undefined) await succeed(program, parameters, { cwd: folder });
}

/** Runs the program with lines on its standard input, and returns the lines that it prints. */
async function run({ run: [program, ...parameters] }: Language, folder: string, input: string): Promise<string[]> {
  const child = spawn(program, parameters, { cwd: folder });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} exited with ${code}:\n${errors}`);
  return output.trimEnd().toLowerCase().split(/\r?\n/);
}

const count = (verdict: Verdict): number => cases.filter(({ expected }) => expected === verdict).length;

test('has the cases of every part of the vectors', () => {
  expect(count('true')).toBeGreaterThanOrEqual(24 + 13 + 5);
  expect(count('false')).toBeGreaterThanOrEqual(81);
  expect(count('error')).toBeGreaterThanOrEqual(16);
});

test('the page lists the file of each language', () => {
  const page = readFileSync(join(root, 'examples/verify/README.md'), 'utf8');
  const listed = [...page.matchAll(/^\| (\S+) +\| \[`[^`]+`\]\(([^)]+)\) +\|/gm)];
  expect(listed.map(([, name, link = '']) => ({ name, file: join('examples/verify', link) }))).toEqual(
    languages.map(({ name, file }) => ({ name, file })),
  );
});

describe.each(languages)('the verifier in $name', (language) => {
  const skipped = isSkipped(language);
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'verify-'));
    if (!skipped) await build(language, folder);
  });

  afterAll(() => rm(folder, { recursive: true }));

  test.skipIf(skipped)('decides every case of the vectors as webhook-signing does', async () => {
    const verdicts = await run(language, folder, cases.map((one) => `${line(one)}\n`).join(''));
    expect(verdicts.map((verdict, index) => `${cases[index]?.name}: ${verdict}`)).toEqual(
      cases.map(({ name, expected }) => `${name}: ${expected}`),
    );
  });
});
