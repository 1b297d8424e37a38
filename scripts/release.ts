/** `pnpm release`: publishes and tags the packages whose versions the registry does not have. */
import { parseArgs } from 'node:util';
import { openRegistry, release, ReleaseError } from '../tools/release/src/index.ts';

const help = `Usage: pnpm release [options]

Builds and packs every public package whose version is not on the registry, checks the tarballs (publint, Are The Types
Wrong, contract-check against the published versions), publishes them in dependency order, and tags the packages and the
apps. If the command is interrupted, run it again to complete the release. It does not push tags.

Options:
  --dry-run        build and check everything, but publish and tag nothing
  --registry URL   use this registry instead of the one in npm's configuration
  --help           show this help

In a GitHub workflow with the permission \`id-token: write\`, packages are published with provenance and need no token.
Exit codes: 0 success, 1 a check or a step failed, 2 invalid usage.
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
    // GitHub sets it for jobs that can request an identity token.
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
