import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceRoot } from '../../tools/checks/src/run.ts';
import type { Build } from './build.ts';
import { run } from './command.ts';

export interface Image {
  /** For example `localhost/deedwire/webhook-worker:0.12.0`. */
  name: string;
  /** The SHA-256 of its configuration, which contains those of its layers. */
  id: string;
}

/**
 * Builds the image of an app with Buildah.
 *
 * @param options `context`: the folder with `base`, `node` and the folder of the app
 */
export async function buildImage(
  app: string,
  build: Build,
  options: { context: string; prefix: string; cache: boolean },
): Promise<Image> {
  const { context, prefix, cache } = options;
  const version = build.versions[app] ?? '';
  const name = `${prefix}/${app}:${version}`;
  const values = {
    APP: app,
    VERSION: version,
    COMMIT: build.commit,
    CREATED: new Date(build.epoch * 1000).toISOString(),
  };
  await using folder = await mkdtempDisposable(join(tmpdir(), 'deedwire-image-'));
  const idFile = join(folder.path, 'id');
  await run('buildah', [
    'build',
    // All images share the layers of Debian and Node.
    '--layers',
    ...(cache ? [] : ['--no-cache']),
    // Nothing runs, so there is nothing to isolate.
    '--isolation=chroot',
    '--quiet',
    `--timestamp=${build.epoch}`,
    ...Object.entries(values).map(([key, value]) => `--build-arg=${key}=${value}`),
    `--file=${join(workspaceRoot, 'deploy/Containerfile')}`,
    `--tag=${name}`,
    `--iidfile=${idFile}`,
    context,
  ]);
  return { name, id: (await readFile(idFile, 'utf8')).trim().replace('sha256:', '') };
}
