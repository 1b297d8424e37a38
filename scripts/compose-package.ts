/** Writes the folder that `pnpm pack` packs for the package in the current folder, which is built. */
import { composePackage } from '../tools/release/src/index.ts';

await composePackage(process.cwd());
