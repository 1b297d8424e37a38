import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { foldersAround } from './folders-around.ts';
import { readJsonObject } from './loose-json.ts';

/** The commands of a package manager that remedies name. */
export interface PackageManager {
  /** Runs the command of an installed package. */
  readonly run: string;
  readonly addDevelopment: string;
}

const managers = {
  npm: { run: 'npx', addDevelopment: 'npm install --save-dev' },
  pnpm: { run: 'pnpm', addDevelopment: 'pnpm add --save-dev' },
  yarn: { run: 'yarn', addDevelopment: 'yarn add --dev' },
  bun: { run: 'bunx', addDevelopment: 'bun add --dev' },
} satisfies Record<string, PackageManager>;

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
export function packageManagerOf(start: string): PackageManager {
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
