import type { RunningService } from './service.ts';

export interface StartAppOptions {
  /** The URL of a module of the app. Its folder has `contracts.json`, and the folder above it `package.json`. */
  app: string;
  /** Defaults to that of the process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether it serves `/health`, `/ready` and `/metrics`, on ADMIN_PORT. Defaults to false. */
  servesAdmin?: boolean | undefined;
}

/** An app that runs in a program. */
export type RunningApp<Running extends RunningService = RunningService> = Omit<Running, 'whenReady'> & {
  /** Resolves when the app has become ready. Never settles if it is stopped before. */
  ready: Promise<void>;
};
