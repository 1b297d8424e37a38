import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The members of a JSON object in a file that is not a contract, such as `package.json`. Empty if the file is missing or invalid. */
export function readJsonObject(file: string): Readonly<Record<string, unknown>> {
  try {
    return jsonObjectIn(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Empty if the text is invalid. */
export function jsonObjectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** A folder and the folders around it, the innermost first. The last one is the root or, of a relative path, `.`. */
export function foldersAround(folder: string): string[] {
  const around = dirname(folder);
  return around === folder ? [folder] : [folder, ...foldersAround(around)];
}

export type NamedPackage = NonNullable<ReturnType<typeof packageOf>>;

/** The nearest package with a name, from a folder upwards, with the absolute path of its folder. Null if there is none. */
export function packageOf(start: string) {
  for (const folder of foldersAround(resolve(start))) {
    const { name, version } = readJsonObject(join(folder, 'package.json'));
    if (typeof name === 'string') return { folder, name, version: typeof version === 'string' ? version : null };
  }
  return null;
}

/** The commands of package managers that remedies name. `run`: runs the command of an installed package. */
const managers = {
  npm: { run: 'npx', addDevelopment: 'npm install --save-dev' },
  pnpm: { run: 'pnpm', addDevelopment: 'pnpm add --save-dev' },
  yarn: { run: 'yarn', addDevelopment: 'yarn add --dev' },
  bun: { run: 'bunx', addDevelopment: 'bun add --dev' },
} as const;

const files: readonly (readonly [file: string, name: keyof typeof managers])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['pnpm-workspace.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
];

/** The package manager of the repository around a folder: the one that `packageManager` or a lockfile names, otherwise npm. */
export function packageManagerOf(start: string) {
  for (const folder of foldersAround(resolve(start))) {
    // `yarn@4.9.1`
    const declared = String(readJsonObject(join(folder, 'package.json'))['packageManager']);
    const [, name] =
      files.find((each) => declared.startsWith(`${each[1]}@`)) ??
      files.find(([file]) => existsSync(join(folder, file))) ??
      [];
    if (name !== undefined) return managers[name];
  }
  return managers.npm;
}

/** Whether a folder contains the lockfile of a package manager. */
export function hasLockfile(folder: string): boolean {
  return files.some(([file]) => existsSync(join(folder, file)));
}
