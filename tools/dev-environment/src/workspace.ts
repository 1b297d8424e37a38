import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const workspaceRoot = join(import.meta.dirname, '../../..');

const manifest: { packageManager: string } = JSON.parse(readFileSync(join(workspaceRoot, 'package.json'), 'utf8'));

/** Without the hash of the package, which npx does not accept: `pnpm@12.21.0`. */
export const packageManager = manifest.packageManager.replace(/\+.*/, '');

/** Runs the scripts of the workspace for a user who only has npm: `npx -y pnpm@12.21.0`. */
export const packageManagerCommand = `npx -y ${packageManager}`;
