import { createLogin } from '@deedwire/embedded-postgres';
import type { AppProcess } from '../../app-process.ts';
import { startOurApp } from '../../graphql/our-app.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { OurSystem } from '../ours/our-system.ts';
import { ours } from '../report.ts';
import type { WriteContestant } from './contestant.ts';
import { createReferralRequest, issueClients } from './our-clients.ts';

export interface OurContestants {
  withoutKeys: WriteContestant;
  /** A new idempotency key for each mutation. */
  withKeys: WriteContestant;
  app: Pick<AppProcess, 'memory'>;
  worker: Pick<AppProcess, 'memory'>;
}

interface OurAppsOptions {
  /** Run the output of `pnpm build` instead of the sources. */
  built: boolean;
  /** See `startAppProcess`. */
  checkout?: URL | undefined;
  defer: Defer;
}

/** Starts our API and our worker. */
export async function startOurApps(system: OurSystem, { built, checkout, defer }: OurAppsOptions) {
  const worker = await system.startWorker({ built, checkout });
  // Logins belong to the server, not to the database.
  const login = `${new URL(system.databaseUrl).pathname.slice(1)}_partner_api`;
  const app = await startOurApp({
    interfaceName: 'partner',
    databaseUrl: await createLogin(system.databaseUrl, login, 'partner_api'),
    secretKeys: `${system.forWorkers.keyId}:${system.forWorkers.key}`,
    built,
    checkout,
    defer,
  });
  return { app, worker };
}

/** Starts our API and our worker, with an account. */
export async function startOurContestants(
  system: OurSystem,
  callbackUrl: string,
  { input, name = ours, ...options }: OurAppsOptions & { input: object; name?: string },
): Promise<OurContestants> {
  const [account] = await system.addAccounts([[callbackUrl]]);
  if (account === undefined) throw new Error('There is no account.');
  const { app, worker } = await startOurApps(system, options);
  const headers = await issueClients(system.databaseUrl, [account]);
  const contestant = (title: string, variables: object): WriteContestant => ({
    name: title,
    request: createReferralRequest(app.url, headers, variables),
    async settledCpuMs() {
      await system.untilSettled();
      return { api: (await app.usage()).cpuMs, worker: (await worker.usage()).cpuMs };
    },
  });
  return {
    withoutKeys: contestant(name, input),
    withKeys: contestant(`${name}, a new idempotency key each`, {
      ...input,
      externalReference: 'CRM-1',
      idempotencyKey: 'key-{n}',
    }),
    app,
    worker,
  };
}
