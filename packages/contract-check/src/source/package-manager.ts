import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

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
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const name = declaredIn(folder) ?? files.find(([file]) => existsSync(join(folder, file)))?.[1];
    if (name !== undefined) return managers[name];
    if (folder === dirname(folder)) return managers.npm;
  }
}

/** Whether a folder contains the lockfile of a package manager. */
export function hasLockfile(folder: string): boolean {
  return files.some(([file]) => existsSync(join(folder, file)));
}

/** The name in the member `packageManager` of `package.json`: `yarn@4.9.1`. */
function declaredIn(folder: string): keyof typeof managers | undefined {
  try {
    const { packageManager }: { packageManager?: unknown } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    return files.find(([, name]) => String(packageManager).startsWith(`${name}@`))?.[1];
  } catch {
    // A missing or invalid package.json declares none.
    return undefined;
  }
}
