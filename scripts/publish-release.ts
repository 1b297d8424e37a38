/** Publishes or tags what `pnpm release --pack` has packed. Needs Node, npm and git only: no dependencies are installed. */
import { execFileSync } from 'node:child_process';
import { run } from '../tools/checks/src/run.ts';
import { readPackedRelease } from '../tools/release/src/packed-release.ts';
import { dueTags, publishPacked } from '../tools/release/src/publish-packed.ts';
import { openRegistry } from '../tools/release/src/registry.ts';
import { ReleaseError } from '../tools/release/src/release-error.ts';
import { runScript, say, UsageError } from './run-script.ts';

const help = `Usage: node scripts/publish-release.ts FOLDER [options]

Publishes the tarballs of a folder that \`pnpm release --pack FOLDER\` has made, after comparing each with its hash in
release.json. Skips versions that the registry has.

Options:
  --sha256 HEX     the SHA-256 of release.json, as \`pnpm release --pack\` has printed it
  --stage          only stage them: each is public once a maintainer has approved it (npm stage approve)
  --tag            publish nothing; tag the packages that are on the registry, and the apps if all packages are
  --registry URL   use this registry instead of the one in npm's configuration
  --help           show this help

In a GitHub workflow with the permission \`id-token: write\`, packages are published with provenance and need no token.
Exit codes: 0 success, 1 a check or a step failed, 2 invalid usage.
`;

await runScript({
  help,
  options: {
    sha256: { type: 'string' },
    stage: { type: 'boolean' },
    tag: { type: 'boolean' },
    registry: { type: 'string' },
  },
  takesArguments: true,
  failure: ReleaseError,
  async main({ sha256 = null, stage = false, tag = false, registry: url = null }, [folder, ...others]) {
    if (folder === undefined || others.length > 0) throw new UsageError('');
    const registry = openRegistry(url, run);
    const release = await readPackedRelease(folder, sha256);
    if (!tag) {
      const provenance = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined;
      return publishPacked(release, { folder, registry, provenance, stage, say });
    }
    for (const name of await dueTags(release, registry)) {
      if (execFileSync('git', ['tag', '--list', name], { encoding: 'utf8' }) !== '') continue;
      execFileSync('git', ['tag', '--annotate', '--message', name, name, release.commit]);
      say(`tagged ${name}`);
    }
  },
});
