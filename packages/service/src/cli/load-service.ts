import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Service, ServiceError } from '@deedwire/core';
import type { AddCommands } from '@deedwire/operator';

/** The folder of `deedwire init`. */
export const serviceFolder = 'deedwire';

const names = ['service.ts', 'service.mts', 'service.js', 'service.mjs'];

/**
 * @param named the option `--service`, relative to `folder`
 * @throws {ServiceError} if there is no such file
 */
export function findServiceFile(folder: string, named: string | undefined): string {
  const files = named === undefined ? names.map((name) => join(folder, serviceFolder, name)) : [resolve(folder, named)];
  const found = files.find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new ServiceError([
    named === undefined
      ? `${join(folder, serviceFolder)} has no ${names.join(', ')}. Run \`deedwire init\`, or name the file: --service <file>`
      : `${named} does not exist.`,
  ]);
}

export interface LoadedService {
  readonly service: Service;
  /** Nouns that the application adds to `deedwire operator`. */
  readonly commands: readonly AddCommands[];
  /** The URL of its module. */
  readonly app: string;
}

/** @throws {ServiceError} if the module does not export a service */
export async function loadService(file: string): Promise<LoadedService> {
  const app = pathToFileURL(file).href;
  const { service, commands }: { service?: Service; commands?: () => Promise<readonly AddCommands[]> } = await import(
    app
  );
  if (service === undefined)
    throw new ServiceError([`${file} does not export \`service\`, the value of defineService().`]);
  return { service, commands: (await commands?.()) ?? [], app };
}
