import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Database } from '@deedwire/store';
import { endProcess, type RegisteredApp, registerProcess, storeAppContracts } from '@deedwire/store/processes';
import type { Logger } from './logger.ts';

export interface Registration {
  database: Database;
  app: RegisteredApp;
  /** Of the process. */
  id: string;
  version: string;
  /**
   * The file that `pnpm build` writes, or what makes its text. Sources have no file: without it, the process is registered without contracts.
   */
  contracts: URL | (() => Promise<string>);
}

const everyMs = 60_000;
const retryMs = 5_000;

/** Returns a function that registers the process once. */
export function createRegistration({ database, contracts, ...process }: Registration): () => Promise<void> {
  let text: string | null | undefined;
  return async () => {
    if (text === undefined) text = await readContracts(contracts);
    const registered = { ...process, digest: text === null ? null : hash('sha256', text) };
    if ((await registerProcess(database, registered)) || text === null) return;
    await storeAppContracts(database, process.app, text);
    await registerProcess(database, registered);
  };
}

async function readContracts(contracts: Registration['contracts']): Promise<string | null> {
  if (typeof contracts === 'function') return contracts();
  return existsSync(contracts) ? readFileSync(contracts, 'utf8') : null;
}

/** Registers the process every minute until it ends. A failure stops nothing: it is logged once and tried again. */
export function startRegistration(options: Registration & { logger: Logger }): { end(): Promise<void> } {
  const { logger, ...registration } = options;
  const register = createRegistration(registration);
  let state: 'new' | 'registered' | 'failed' = 'new';
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;

  async function attempt(): Promise<void> {
    try {
      await register();
      state = 'registered';
    } catch (error) {
      if (state !== 'failed') logger.warn({ err: error }, 'the build cannot be registered');
      state = 'failed';
    }
    if (!isEnded) timer = setTimeout(repeat, state === 'failed' ? retryMs : everyMs).unref();
  }
  const repeat = (): void => void (running = attempt());
  let running = attempt();

  return {
    async end() {
      isEnded = true;
      await running;
      clearTimeout(timer);
      if (state === 'registered')
        await endProcess(registration.database, registration).catch((error: unknown) =>
          logger.warn({ err: error }, 'the end of the process was not recorded'),
        );
    },
  };
}
