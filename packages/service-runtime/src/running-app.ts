import { createRequire, findPackageJSON } from 'node:module';
import type { RunningService } from './service.ts';

export interface StartAppOptions {
  /** The URL of a module of the app. The nearest `package.json` has its version. What `pnpm build` says of its contracts is in its folder. */
  app: string;
  /** Defaults to that of the process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Makes what `pnpm build` says of its contracts. Defaults to the file in the folder of the module. */
  contracts?: (() => Promise<string>) | undefined;
  /** Whether it serves `/health`, `/ready` and `/metrics`, on ADMIN_PORT. Defaults to false. */
  servesAdmin?: boolean | undefined;
}

/** An app that runs in a program. */
export type RunningApp<Running extends RunningService = RunningService> = Omit<Running, 'whenReady'> & {
  /** Resolves when the app has become ready. Never settles if it is stopped before. */
  ready: Promise<void>;
};

/**
 * What an app registers itself as.
 *
 * @param app the URL of a module of the app
 * @returns the version in the nearest `package.json`, and where `contracts.json` is, if it was built
 * @throws {Error} if no folder above it has a `package.json`
 */
export function buildOf(app: string): { version: string; contracts: URL } {
  const path = findPackageJSON(app);
  if (path === undefined) throw new Error(`No folder above ${app} has a package.json.`);
  const { version = '0.0.0' }: { version?: string } = createRequire(app)(path);
  return { version, contracts: new URL('contracts.json', app) };
}
