/** `pnpm packages`: builds and packs the public packages, and prints how to install them before they are published. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { packPublicPackages, ReleaseError } from '../tools/release/src/index.ts';
import { runScript } from './run-script.ts';

const help = `Usage: pnpm packages [FOLDER]

Builds and packs the public packages into a folder, as \`pnpm release\` does, and prints the commands that install them
in a project: from these files, or from a private registry. Default folder: .local/packages
`;

type Tarballs = Awaited<ReturnType<typeof packPublicPackages>>;

/** The tarball of a package, after those of the packages that it depends on: npm would look for these on a registry. */
function withDependencies(tarballs: Tarballs, name: string): string[] {
  const [found] = tarballs.filter(({ of }) => of.name === name);
  return found ? [...found.of.dependencies.flatMap((each) => withDependencies(tarballs, each)), `'${found.file}'`] : [];
}

function describe(tarballs: Tarballs): string {
  const names = tarballs.map(({ of }) => of.name);
  return `Run one of these in your project:

${names.map((name) => `npm install ${[...new Set(withDependencies(tarballs, name))].join(' ')}\n`).join('')}
Or publish all to a private registry:

REGISTRY=https://registry.example
${tarballs.map(({ file }) => `npm publish --no-provenance --registry "$REGISTRY" '${file}'\n`).join('')}
Then run the first command and one of the others in your project:

npm config set --location=project @deedwire:registry "$REGISTRY"
${names.map((name) => `npm install ${name}\n`).join('')}`;
}

await runScript({
  help,
  options: {},
  takesArguments: true,
  failure: ReleaseError,
  async main(_, [path = join(import.meta.dirname, '../.local/packages')]) {
    const folder = resolve(path);
    await mkdir(folder, { recursive: true });
    process.stdout.write(describe(await packPublicPackages(folder)));
  },
});
