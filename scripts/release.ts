/** `pnpm release`: publishes every package whose version the registry does not have, and tags it. */
import { parseArgs } from 'node:util';
import { openRegistry, release, ReleaseError } from '../tools/release/src/index.ts';

const help = `Usage: pnpm release [options]

Builds and packs every public package whose version is not on the registry, checks the tarballs (publint, Are The Types
Wrong, contract-check against what is published), publishes them in the order of their dependencies, and tags them and the
apps. After an interruption, run it again: it does what is left. The tags are not pushed.

Options:
  --dry-run        make and check everything, publish and tag nothing
  --registry URL   in place of the registry that npm is configured for
  --help           this text

In a GitHub workflow with the permission \`id-token: write\`, packages are published with provenance and without a token.
Exit: 0 done, 1 refused, 2 wrong usage.
`;

async function main(): Promise<number> {
  let options;
  try {
    const flag = { type: 'boolean' } as const;
    options = parseArgs({ options: { 'dry-run': flag, help: flag, registry: { type: 'string' } } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return 2;
  }
  if (options.help === true) {
    process.stdout.write(help);
    return 0;
  }
  await release({
    registry: openRegistry(options.registry ?? null),
    dryRun: options['dry-run'] === true,
    // oxlint-disable-next-line node/no-process-env -- set by GitHub for a job that may identify itself
    provenance: process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined,
    say: (line) => void process.stdout.write(`${line}\n`),
  });
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
