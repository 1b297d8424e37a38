/** Publishes or tags what `pnpm release --pack` has packed. Needs Node, npm and git only: no dependencies are installed. */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { readPackedRelease } from '../tools/release/src/packed-release.ts';
import { dueTags, publishPacked } from '../tools/release/src/publish-packed.ts';
import { openRegistry } from '../tools/release/src/registry.ts';
import { ReleaseError } from '../tools/release/src/release-error.ts';
import { endWithReader } from './end-with-reader.ts';

endWithReader();

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

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  let parsed;
  try {
    const [flag, text] = [{ type: 'boolean' }, { type: 'string' }] as const;
    parsed = parseArgs({
      options: { sha256: text, stage: flag, tag: flag, registry: text, help: flag },
      allowPositionals: true,
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const [folder] = positionals;
  if (values.help === true || folder === undefined || positionals.length > 1) {
    process[values.help === true ? 'stdout' : 'stderr'].write(help);
    return values.help === true ? 0 : 2;
  }
  const registry = openRegistry(values.registry ?? null);
  const release = await readPackedRelease(folder, values.sha256 ?? null);
  if (values.tag !== true) {
    const provenance = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined;
    await publishPacked(release, { folder, registry, provenance, stage: values.stage === true, say });
    return 0;
  }
  for (const name of await dueTags(release, registry)) {
    if (execFileSync('git', ['tag', '--list', name], { encoding: 'utf8' }) !== '') continue;
    execFileSync('git', ['tag', '--annotate', '--message', name, name, release.commit]);
    say(`tagged ${name}`);
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
