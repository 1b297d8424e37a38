import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { workspaceRoot } from '../../tools/checks/src/run.ts';
import { packageManager } from '../../tools/dev-environment/src/workspace.ts';
import type { DebianPackage } from './base.ts';
import { run } from './command.ts';

/** A component of CycloneDX. */
interface Component {
  type: string;
  name: string;
  version: string;
  purl: string;
  'bom-ref': string;
}

function component(type: string, name: string, version: string, purl: string): Component {
  return { type, name, version, purl, 'bom-ref': purl };
}

/** Writes what `pnpm sbom` says about an app, with Node and the packages of Debian that its image contains. */
export async function writeBillOfMaterials(
  appPackage: string,
  packages: readonly DebianPackage[],
  file: string,
): Promise<void> {
  const options = ['--prod', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const text = await run('npx', ['-y', packageManager, '--filter', appPackage, 'sbom', ...options]);
  const bill: { components: unknown[] } = JSON.parse(text);
  const node = (await readFile(join(workspaceRoot, '.node-version'), 'utf8')).trim();
  bill.components.push(
    component('application', 'node', node, `pkg:generic/node@${node}`),
    ...packages.map(({ name, version, architecture }) =>
      component(
        'library',
        name,
        version,
        `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`,
      ),
    ),
  );
  await writeFile(file, `${JSON.stringify(bill, null, 2)}\n`);
}
