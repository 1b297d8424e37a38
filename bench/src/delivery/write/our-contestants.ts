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

/** Starts our API and our worker. */
export async function startOurApps(system: OurSystem, { built, defer }: { built: boolean; defer: Defer }) {
  const worker = await system.startWorker({ built });
  const app = await startOurApp({
    interfaceName: 'partner',
    databaseUrl: await createLogin(system.databaseUrl, 'bench_partner_api', 'partner_api'),
    secretKeys: `${system.forWorkers.keyId}:${system.forWorkers.key}`,
    built,
    defer,
  });
  return { app, worker };
}

/**
 * Starts our API and our worker, with an account.
 *
 * @param options.built run the output of `pnpm build` instead of the sources
 */
export async function startOurContestants(
  system: OurSystem,
  origin: string,
  { input, built, defer }: { input: object; built: boolean; defer: Defer },
): Promise<OurContestants> {
  const [account] = await system.addAccounts([[`${origin}/hooks`]]);
  if (account === undefined) throw new Error('There is no account.');
  const { app, worker } = await startOurApps(system, { built, defer });
  const headers = await issueClients(system.databaseUrl, [account]);
  const contestant = (name: string, variables: object): WriteContestant => ({
    name,
    request: createReferralRequest(app.url, headers, variables),
    async settledCpuMs() {
      await system.untilSettled();
      return { api: (await app.usage()).cpuMs, worker: (await worker.usage()).cpuMs };
    },
  });
  return {
    withoutKeys: contestant(ours, input),
    withKeys: contestant(`${ours}, a new idempotency key each`, {
      ...input,
      externalReference: 'CRM-1',
      idempotencyKey: 'key-{n}',
    }),
    app,
    worker,
  };
}
