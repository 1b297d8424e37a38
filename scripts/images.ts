/** `pnpm images`: builds the container images of the apps, or the same folders without a container. */
import { chmod, copyFile, mkdir, mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { workspaceRoot } from '../tools/checks/src/run.ts';
import { packageManager } from '../tools/dev-environment/src/workspace.ts';
import { installRelease } from '../tools/release/src/install-release.ts';
import { deployApp } from './images/app-folder.ts';
import { makeBase } from './images/base.ts';
import { writeBillOfMaterials } from './images/bill-of-materials.ts';
import { buildImage } from './images/build-image.ts';
import { appNames, readBuild, type Build } from './images/build.ts';
import { CommandError, run } from './images/command.ts';
import { runScript, say, UsageError } from './run-script.ts';

const help = `Usage: pnpm images [options] [app]…

Builds the container image of each app with Buildah, from Debian 12 and the Node of this workspace. The apps are
${appNames.join(', ')}: all of them if you name none. deploy/README.md describes the images.

Options:
  --prefix NAME      the names of the images are NAME/<app>:<version>. Default: localhost/deedwire
  --tag TAG          also name each image NAME/<app>:TAG
  --archive FOLDER   also write each image to <app>-<version>.tar, as an OCI archive
  --sbom FOLDER      also write the bill of materials of each image to <app>-<version>.cdx.json (CycloneDX)
  --folders FOLDER   build no image, but write all apps to FOLDER/<commit>/<app>, and Node to FOLDER/<commit>/bin/node.
                     FOLDER/current then leads to them, and FOLDER/previous to the release before. The units in
                     deploy/systemd run FOLDER/current. A release that exists is not written again
  --no-cache         build every layer again
  --help             show this help

SOURCE_DATE_EPOCH, in seconds, is the time of the files in an image. Default: the time of the commit. Images from the
same commit and the same packages of Debian have the same digest.
Needs buildah and mmdebstrap, and root or an entry in /etc/subuid. --folders needs neither.
Exit codes: 0 success, 1 a step failed, 2 invalid usage.
`;

type Options = Partial<Record<'prefix' | 'tag' | 'archive' | 'sbom', string> & Record<'no-cache', boolean>>;

/** Copies the Node of the scripts, which the workspace installs from npm. */
async function copyNode(target: string): Promise<void> {
  await copyFile(join(workspaceRoot, `node_modules/node-linux-${process.arch}/bin/node`), target);
  await chmod(target, 0o755);
}

async function writeFolders(build: Build, folder: string): Promise<void> {
  const release = join(folder, build.commit);
  const isWritten = await installRelease(folder, build.commit, {
    isReplaced: build.isModified,
    write: async (target) => {
      await buildApps(appNames, build);
      await mkdir(join(target, 'bin'));
      await copyNode(join(target, 'bin/node'));
      for (const app of appNames) await deployApp(app, build, join(target, app));
    },
  });
  say(isWritten ? release : `${release} is installed already, and was not written again. It is the current release.`);
}

async function buildApps(apps: readonly string[], { packages }: Build): Promise<void> {
  const filters = apps.map((app) => `--filter=${packages[app]}`);
  await run('npx', ['-y', packageManager, 'exec', 'turbo', 'run', 'build', ...filters]);
}

async function buildImages(apps: readonly string[], build: Build, options: Options): Promise<void> {
  const { prefix = 'localhost/deedwire', tag, archive, sbom, 'no-cache': withoutCache = false } = options;
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'deedwire-images-'));
  const context = temporary.path;
  const packages = await makeBase(join(context, 'base'), build);
  await copyNode(join(context, 'node'));
  for (const app of apps) {
    await deployApp(app, build, join(context, app));
    const image = await buildImage(app, build, { context, prefix, cache: !withoutCache });
    const tags = tag === undefined ? [] : [`${prefix}/${app}:${tag}`];
    if (tags.length > 0) await run('buildah', ['tag', image.id, ...tags]);
    const name = `${app}-${build.versions[app]}`;
    if (sbom !== undefined) {
      await mkdir(sbom, { recursive: true });
      await writeBillOfMaterials(build.packages[app] ?? app, packages, join(sbom, `${name}.cdx.json`));
    }
    if (archive !== undefined) {
      await mkdir(archive, { recursive: true });
      const file = resolve(archive, `${name}.tar`);
      await rm(file, { force: true });
      await run('buildah', ['push', '--quiet', image.id, `oci-archive:${file}:${image.name}`]);
    }
    for (const each of [image.name, ...tags]) say(`${each} sha256:${image.id}`);
  }
}

const flag = { type: 'boolean' } as const;
const text = { type: 'string' } as const;

await runScript({
  help,
  options: { prefix: text, tag: text, archive: text, sbom: text, folders: text, 'no-cache': flag },
  takesArguments: true,
  failure: CommandError,
  async main({ folders, ...options }, positionals) {
    const unknown = positionals.find((app) => !appNames.includes(app));
    if (unknown !== undefined) throw new UsageError(`${unknown} is no app: ${appNames.join(', ')}`);
    if (folders !== undefined && positionals.length > 0) throw new UsageError('--folders writes all apps: name none');
    const apps = positionals.length === 0 ? appNames : positionals;
    const build = await readBuild();
    if (folders !== undefined) return writeFolders(build, resolve(folders));
    await buildApps(apps, build);
    return buildImages(apps, build, options);
  },
});
