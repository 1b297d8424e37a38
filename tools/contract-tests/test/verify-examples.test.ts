import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '@deedwire/testing';
import { verifyWebhook, WebhookUsageError, WebhookVerificationError } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { succeed } from './support/command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const drivers = fileURLToPath(new URL('support/verify', import.meta.url));

interface Vectors {
  secrets: { valid: string[]; invalid: { why: string; secret: string }[] };
  sign: (Body & { name: string; secret: string; nextSecret?: string; timestamp: number; headers: object })[];
  verify: (Body & { name: string; secrets: string[]; now: number; headers: Header[]; accept?: object })[];
}

interface Body {
  body?: string;
  bodyBase64?: string;
}

type Header = readonly [name: string, value: string];

type Verdict = 'error' | 'false' | 'true';

interface Request {
  /** Unix seconds. */
  now: number;
  body: Buffer;
  secrets: readonly string[];
  headers: readonly Header[];
}

interface Case extends Request {
  name: string;
  /** The verdict of `webhook-signing` about the request without its X-Service headers. */
  verdict: Verdict;
  expected: Verdict;
}

/** The cases that a verifier accepts although `webhook-signing` rejects them, and why. Deedwire signed these requests. */
const lenient: Readonly<Record<string, string>> = {
  'webhook-signature: two values joined': 'a matching signature follows ", " and not only a space',
  'webhook-signature: two spaces': 'a matching signature follows two spaces',
  'webhook-signature twice': 'a server joins the two values with ", "',
};

/** The time at which the requests are signed that are not in the vectors, in Unix seconds. */
const signedAt = 1_793_491_200;

const vectors: Vectors = JSON.parse(readFileSync(join(root, 'packages/webhook-signing/test-vectors.json'), 'utf8'));
const vectorCases = vectors.verify.map(({ name, now, secrets, headers, ...body }) =>
  toCase(name, { now, body: bytes(body), secrets, headers }),
);
const cases = [
  ...vectorCases,
  ...vectors.sign.flatMap(signCases),
  ...secretCases(),
  ...weakKeyCases(),
  ...timestampCases(),
];

function toCase(name: string, request: Request): Case {
  const verdict = verdictOf(request);
  return { ...request, name, verdict, expected: Object.hasOwn(lenient, name) ? 'true' : verdict };
}

function verdictOf({ now, body, secrets, headers }: Request): Verdict {
  const standard = headers.filter(([name]) => !/^x-service-/i.test(name));
  const named = Object.fromEntries(standard.map(([name]) => [name, valuesOf(standard, name)]));
  try {
    verifyWebhook({ headers: named, body, secret: secrets, now: new Date(now * 1000) });
    return 'true';
  } catch (error) {
    if (WebhookVerificationError.isInstance(error)) return 'false';
    if (WebhookUsageError.isInstance(error)) return 'error';
    throw error;
  }
}

function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.filter(([other]) => other === name).map(([, value]) => value);
}

/** A signature verifies with the secret, and during a rotation also with the next secret only. */
function signCases({ name, timestamp, secret, nextSecret, headers, ...body }: Vectors['sign'][0]): Case[] {
  return [secret, ...(nextSecret === undefined ? [] : [nextSecret])].map((key) =>
    toCase(`signed: ${name}`, {
      now: timestamp,
      body: bytes(body),
      secrets: [key],
      headers: Object.entries(headers),
    }),
  );
}

/** An invalid secret is an error even beside the valid one that signed the request. */
function secretCases(): Case[] {
  const { secret, timestamp, headers, ...body } = vectors.sign[0] ?? { secret: '', timestamp: 0, headers: {} };
  const request = { now: timestamp, body: bytes(body), headers: Object.entries(headers) };
  return [
    ...vectors.secrets.valid.map((valid) => toCase(`valid secret ${valid}`, { ...request, secrets: [valid, secret] })),
    ...vectors.secrets.invalid.map(({ why, secret: invalid }) =>
      toCase(`invalid secret: ${why}`, { ...request, secrets: [secret, invalid] }),
    ),
  ];
}

/** Requests that anyone can sign if the secret is missing in the configuration, or that few attempts can. */
function weakKeyCases(): Case[] {
  return ['', 'whsec_', `whsec_${base64('short')}`].map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return toCase(`signed with the key of the secret "${secret}"`, {
      ...signedRequest(key, String(signedAt)),
      now: signedAt,
      secrets: [secret],
    });
  });
}

/** Deedwire signs none of these timestamps but the first. They are signed here, so that only their format is wrong. */
function timestampCases(): Case[] {
  const secret = vectors.secrets.valid[0] ?? '';
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = (timestamp: string, now = signedAt): Case =>
    toCase(`signed with the timestamp "${timestamp}" at ${now}`, {
      ...signedRequest(key, timestamp),
      now,
      secrets: [secret],
    });
  const malformed = ['0#', '+#', '-#', ' #', '# ', '#.0', '#\u0660', '', 'soon'];
  return [
    signed(String(signedAt)),
    ...malformed.map((pattern) => signed(pattern.replace('#', String(signedAt)))),
    // Parsers that return 0 for it accept it if the clock is not set.
    signed('ten digits', 0),
  ];
}

function signedRequest(key: Buffer, timestamp: string): Pick<Request, 'body' | 'headers'> {
  const body = Buffer.from('{}');
  const headers: Header[] = [
    ['webhook-id', 'id'],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', standardSignature(key, 'id', timestamp, body)],
  ];
  return { body, headers };
}

function standardSignature(key: Buffer, id: string, timestamp: string, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

function bytes({ body, bodyBase64 = '' }: Body): Buffer {
  return body === undefined ? Buffer.from(bodyBase64, 'base64') : Buffer.from(body);
}

/** Lower-cases names and joins repeated values, as servers do. */
function joined(headers: readonly Header[]): Header[] {
  const lowerCase = headers.map(([name, value]): Header => [name.toLowerCase(), value]);
  const names = new Set(lowerCase.map(([name]) => name));
  return [...names].map((name) => [name, valuesOf(lowerCase, name).join(', ')]);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** One line for a driver: now, body, secrets and headers, separated by tabs. */
function line({ now, body, secrets, headers }: Case): string {
  const listed = joined(headers).map(([name, value]) => `${name}:${base64(value)}`);
  return [now, body.toString('base64'), secrets.map(base64).join(), listed.join()].join('\t');
}

interface Language {
  name: string;
  /** The programs that must be installed. */
  programs: readonly string[];
  /** The verifier, from the root of the repository. */
  file: string;
  /** Matches the function in the file. The first group is its body. */
  verifier: RegExp;
  /** Its path in the folder of the program. Defaults to its name. */
  copiedTo?: string;
  driver: string;
  /** Other files of the program. */
  files?: Readonly<Record<string, string>>;
  build?: readonly string[];
  /** Added to the environment of the build. */
  env?: Readonly<Record<string, string>>;
  run: readonly [program: string, ...parameters: string[]];
  /** Every how many cases one is run. Defaults to 1. */
  every?: number;
}

/** For the version of the installed .NET SDK, so that the build downloads nothing. */
const csharpProject = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
    <TargetFramework Condition="$(BundledNETCoreAppTargetFrameworkVersion) &lt; 5">netcoreapp$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
    <UseAppHost>false</UseAppHost>
    <InvariantGlobalization>true</InvariantGlobalization>
  </PropertyGroup>
</Project>
`;

const csharp = {
  file: 'examples/verify/csharp/WebhookVerifier.cs',
  verifier: /^ {4}public static bool IsAuthentic\([^{]*\{\n(.*?)^ {4}\}\n/ms,
  driver: 'Driver.cs',
};

const languages: Language[] = [
  {
    name: 'Python',
    programs: ['python3'],
    file: 'examples/receiver-python/verify.py',
    verifier: /^def is_authentic\([^)]*\):\n {4}""".*?^ {4}"""\n((?: {4}[^\n]*\n)+)/ms,
    driver: 'driver.py',
    run: ['python3', 'driver.py'],
  },
  {
    name: 'Go',
    programs: ['go'],
    file: 'examples/receiver-go/webhook/verify.go',
    copiedTo: 'webhook/verify.go',
    verifier: /^func IsAuthentic\([^\n]*\{\n(.*?)^\}\n/ms,
    driver: 'driver.go',
    files: { 'go.mod': 'module verify\n\ngo 1.19\n' },
    build: ['go', 'build', '-o', 'driver', '.'],
    run: ['./driver'],
  },
  {
    name: 'PHP',
    programs: ['php'],
    file: 'examples/verify/php/verify.php',
    verifier: /^function is_authentic\([^\n]*\n\{\n(.*?)^\}\n/ms,
    driver: 'driver.php',
    run: ['php', '-d', 'display_errors=stderr', 'driver.php'],
  },
  {
    name: 'Ruby',
    programs: ['ruby'],
    file: 'examples/verify/ruby/verify.rb',
    verifier: /^ {2}def self\.authentic\?\([^\n]*\n(.*?)^ {2}end\n/ms,
    driver: 'driver.rb',
    run: ['ruby', 'driver.rb'],
  },
  {
    name: 'Java',
    programs: ['javac', 'java'],
    file: 'examples/verify/java/WebhookVerifier.java',
    verifier: /^ {4}public static boolean isAuthentic\([^{]*\{\n(.*?)^ {4}\}\n/ms,
    driver: 'Driver.java',
    build: ['javac', '--release', '11', 'WebhookVerifier.java', 'Driver.java'],
    run: ['java', '-cp', '.', 'Driver'],
  },
  {
    ...csharp,
    name: 'C#',
    programs: ['dotnet'],
    files: { 'driver.csproj': csharpProject },
    // Neither a build server nor MSBuild nodes outlive the build.
    build: ['dotnet', 'build', '-o', 'out', '-nodeReuse:false', '-p:UseSharedCompilation=false'],
    env: {
      DOTNET_CLI_TELEMETRY_OPTOUT: '1',
      DOTNET_GENERATE_ASPNET_CERTIFICATE: 'false',
      DOTNET_NOLOGO: '1',
      // Otherwise .NET needs the libraries of ICU.
      DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1',
    },
    run: ['dotnet', 'out/driver.dll'],
  },
  {
    name: 'Shell',
    programs: ['sh', 'openssl'],
    file: 'examples/verify/shell/verify.sh',
    verifier: /^is_authentic\(\) \(\n(.*?)^\)\n/ms,
    driver: 'driver.sh',
    run: ['sh', 'driver.sh'],
    // It starts 15 or more processes for each case.
    every: 20,
  },
];

/** The compiler of Mono accepts programs that the compiler of .NET rejects, and is easier to install. */
const csharpOnMono: Language = {
  ...csharp,
  name: 'C# on Mono',
  programs: ['mcs', 'mono'],
  build: ['mcs', '-out:driver.exe', 'WebhookVerifier.cs', 'Driver.cs'],
  run: ['mono', 'driver.exe'],
};

function isSkipped({ name, programs }: Language): boolean {
  const absent = programs.filter((program) => findProgram(program) === undefined);
  // CI installs Python. A test there fails without it.
  if (absent.length === 0 || (name === 'Python' && process.env['CI'] === 'true')) return false;
  process.stdout.write(
    `contract-tests: no ${absent.join(' and no ')} on the PATH, the ${name} verifier is not tested\n`,
  );
  return true;
}

/** Builds the program of a language in a folder. */
async function build(
  { file, copiedTo, driver, files = {}, build: command = [], env = {} }: Language,
  folder: string,
): Promise<void> {
  const copy = join(folder, copiedTo ?? file.split('/').at(-1) ?? '');
  await mkdir(dirname(copy), { recursive: true });
  await copyFile(join(root, file), copy);
  await copyFile(join(drivers, driver), join(folder, driver));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const [program, ...parameters] = command;
  if (program !== undefined) await succeed(program, parameters, { cwd: folder, env });
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
  expect(count('true')).toBeGreaterThanOrEqual(22 + 13 + 5);
  expect(count('false')).toBeGreaterThanOrEqual(70 + 8);
  expect(count('error')).toBeGreaterThanOrEqual(16 + 3);
});

test('the verdicts differ from the vectors only where the X-Service headers or a narrower tolerance decide', () => {
  const accepted = new Map(vectors.verify.map(({ name, accept }) => [name, accept !== undefined]));
  const differing = (verdict: Verdict): string[] =>
    vectorCases.filter((one) => one.verdict === verdict && accepted.get(one.name) !== (verdict === 'true')).map(nameOf);
  expect(differing('error')).toEqual([]);
  expect(differing('false')).toEqual([
    'X-Service headers only, no id',
    'rotation, X-Service headers only, receiver with the new secret',
  ]);
  expect(differing('true')).toEqual([
    'X-Service-Webhook-Signature twice',
    'X-Service-Webhook-Timestamp twice',
    'the two schemes have different timestamps',
    'older than a narrower tolerance',
    'no tolerance, one second later',
    'Standard Webhooks matches, X-Service does not',
  ]);
});

test('a request that the verifiers accept and webhook-signing rejects has a signature made with a secret', () => {
  const accepted = cases.filter(({ expected, verdict }) => expected === 'true' && verdict !== 'true');
  expect(accepted.map(nameOf).toSorted()).toEqual(Object.keys(lenient).toSorted());
  expect(accepted.filter((one) => !isSigned(one)).map(nameOf)).toEqual([]);
});

function nameOf({ name }: Case): string {
  return name;
}

function isSigned({ body, secrets, headers }: Case): boolean {
  const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map(
    (name) => valuesOf(headers, `webhook-${name}`)[0],
  );
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return signatures.includes(standardSignature(key, id, timestamp, body));
  });
}

const page = readFileSync(join(root, 'examples/verify/README.md'), 'utf8');

test('the page lists the file of each language', () => {
  const listed = [...page.matchAll(/^\| (\S+) +\| \[`[^`]+`\]\(([^)]+)\) +\|/gm)];
  expect(listed.map(([, name, link = '']) => ({ name, file: join('examples/verify', link) }))).toEqual(
    languages.map(({ name, file }) => ({ name, file })),
  );
});

/** Code that a file may have around the function: imports, and the declaration of a package, a module or a class. */
const boilerplate =
  /^(?:import|from|using|package|require|module|public (?:static|final) class) ?\(?[\w ".,*;]*\{?$|^\t"[\w/]+"$|^<\?php$|^[{}()]$|^end$/;

describe.each(languages)('the file in $name', ({ file, verifier }) => {
  const text = readFileSync(join(root, file), 'utf8');
  const withoutComments = text
    .replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
    .split('\n')
    .filter((each) => !/^\s*(?:#|\/\/|$)/.test(each));
  const lines = withoutComments.join('\n').concat('\n');

  test('has at most twelve lines of code in one function, and nothing else', () => {
    const body = verifier.exec(lines)?.[1] ?? '';
    const code = body.split('\n').filter((each) => /\w/.test(each) && each.trim() !== 'end');
    expect(code.length).toBeGreaterThanOrEqual(8);
    expect(code.length).toBeLessThanOrEqual(12);
    expect(code.filter((each) => each.length > 115)).toEqual([]);
    const others = lines.replace(verifier, '').trimEnd().split('\n');
    expect(others.filter((each) => each !== '' && !boilerplate.test(each))).toEqual([]);
  });
});

describe.each([...languages, csharpOnMono])('the verifier in $name', (language) => {
  const skipped = isSkipped(language);
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'verify-'));
    if (!skipped) await build(language, folder);
  });

  afterAll(() => rm(folder, { recursive: true }));

  test.skipIf(skipped)('decides the cases of the vectors as webhook-signing does', async () => {
    const sample = cases.filter((_, index) => index % (language.every ?? 1) === 0);
    const verdicts = await run(language, folder, sample.map((one) => `${line(one)}\n`).join(''));
    expect(verdicts.map((verdict, index) => `${sample[index]?.name}: ${verdict}`)).toEqual(
      sample.map(({ name, expected }) => `${name}: ${expected}`),
    );
  });
});
