/** `pnpm release`: publishes and tags the packages whose versions the registry does not have. */
import { resolve } from 'node:path';
import { run } from '../tools/checks/src/run.ts';
import { openRegistry, packRelease, release, ReleaseError } from '../tools/release/src/index.ts';
import { runScript, say } from './run-script.ts';

const help = `Usage: pnpm release [options]

Builds and packs every public package whose version is not on the registry, checks the tarballs (publint, Are The Types
Wrong, contract-check against the published versions), publishes them in dependency order, and tags the packages and the
apps. If the command is interrupted, run it again to complete the release. It does not push tags.

Options:
  --dry-run        build and check everything, but publish and tag nothing
  --pack FOLDER    build, check and pack everything into a folder, and print the SHA-256 of its release.json, for a job
                   that publishes it: node scripts/publish-release.ts --help
  --registry URL   use this registry instead of the one in npm's configuration
  --help           show this help

In a GitHub workflow with the permission \`id-token: write\`, packages are published with provenance and need no token.
Exit codes: 0 success, 1 a check or a step failed, 2 invalid usage.
`;

await runScript({
  help,
  options: { 'dry-run': { type: 'boolean' }, pack: { type: 'string' }, registry: { type: 'string' } },
  failure: ReleaseError,
  async main({ 'dry-run': dryRun = false, pack, registry: url = null }) {
    const registry = openRegistry(url, run);
    if (pack !== undefined) {
      // The job that publishes has provenance; this one only checks that it can.
      const provenance = process.env['GITHUB_ACTIONS'] === 'true';
      const sha256 = await packRelease(resolve(pack), { registry, provenance, say });
      if (sha256 !== null) say(sha256);
      return;
    }
    // GitHub sets it for jobs that can request an identity token.
    const provenance = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined;
    await release({ registry, dryRun, provenance, say });
  },
});
