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

/** The tarball of a package, after those of the packages that it depends on. */
function withDependencies(tarballs: Tarballs, name: string): Tarballs {
  const [found] = tarballs.filter(({ of }) => of.name === name);
  if (!found) return [];
  return [...new Set([...found.of.dependencies.flatMap((each) => withDependencies(tarballs, each)), found])];
}

/**
 * Beside graphql 16 of the application, npm gives the dependencies of this package that one, whose range they allow. This makes them share its
 * own. pnpm and Yarn do so without it.
 */
const ownGraphql = "npm pkg set 'overrides.@deedwire/service.graphql=^17'";

/** The command of each package manager that installs the last package, and asks no registry for the others: the names are not registered. */
const installers: Readonly<Record<string, (files: Tarballs, needed: Tarballs, file: string) => string>> = {
  // In an order: npm asks for a dependency that the same command installs.
  npm: (files) =>
    files
      .flatMap(({ of, file }) => [...(of.name === '@deedwire/service' ? [ownGraphql] : []), `npm install '${file}'`])
      .join(' && '),
  pnpm: (_, needed, file) => {
    const overrides = Object.fromEntries(needed.map((each) => [each.of.name, `file:${each.file}`]));
    const configure = `pnpm config set --location=project --json overrides '${JSON.stringify(overrides)}' && `;
    return `${needed.length > 0 ? configure : ''}pnpm add '${file}'`;
  },
  Yarn: (_, needed, file) => {
    const resolutions = needed.map((each) => ` 'resolutions.${each.of.name}=file:${each.file}'`).join('');
    return `${needed.length > 0 ? `npm pkg set${resolutions} && ` : ''}yarn add '${file}'`;
  },
};

function describe(tarballs: Tarballs): string {
  const names = tarballs.map(({ of }) => of.name);
  const groups = Object.entries(installers).map(([manager, command]) => {
    const lines = names.map((name) => {
      const files = withDependencies(tarballs, name);
      return `${command(files, files.slice(0, -1), files.at(-1)?.file ?? '')}\n`;
    });
    return `With ${manager}:\n\n${lines.join('')}\n`;
  });
  return `Run one of these lines in your project. None asks a registry for these packages. That of pnpm replaces the
overrides of the project: if it has some, add these to pnpm-workspace.yaml instead.

${groups.join('')}Or publish all to a private registry:

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
