import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildImages, configureContainers, isWithoutContainers, run, tryRun } from './containers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Null if a tool is missing, and the tests are skipped. */
    containers: {
      env: Record<string, string>;
      folder: string;
      /** The id of each image by app. It is also named `localhost/deedwire/<app>:local`. */
      images: Record<string, string>;
    } | null;
  }
}

/** Global setup of the tests of deployment. Builds the images in a storage that it removes afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (isWithoutContainers()) {
    project.provide('containers', null);
    return async () => {};
  }
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-containers-'));
  const containers = await configureContainers(folder);
  const remove = async (): Promise<void> => {
    await tryRun(containers, 'podman', ['pod', 'rm', '--all', '--force', '--time=0']);
    await tryRun(containers, 'podman', ['rm', '--all', '--force', '--time=0']);
    await tryRun(containers, 'podman', ['network', 'prune', '--force']);
    // The layers are mounted while an image is.
    await tryRun(containers, 'podman', ['image', 'umount', '--all']);
    await tryRun(containers, 'umount', ['--lazy', join(folder, 'storage/overlay')]);
    await rm(folder, { recursive: true, maxRetries: 10 });
  };
  try {
    await run(containers, 'podman', ['info']);
    const images = await buildImages(containers, ['--tag=local', `--sbom=${join(folder, 'sbom')}`]);
    project.provide('containers', { env: { ...containers.env }, folder, images });
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}
