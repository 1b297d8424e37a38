import { createLogin } from '@deedwire/embedded-postgres';
import type { AppProcess, AppProcessOptions } from '../../app-process.ts';
import { startOurApp } from '../../graphql/contestant.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { OurSystem } from '../ours/our-system.ts';
import { ours } from '../workloads.ts';
import { createReferralRequest, issueClients, referralInput } from './our-clients.ts';
import type { WriteContestant } from './rounds.ts';

type OurAppsOptions = Pick<AppProcessOptions, 'built'> & { defer: Defer };

/** Starts our API of partners, which has its own login. */
export async function startPartnerApi(
  { databaseUrl, secretKeys }: OurSystem,
  { defer, ...options }: OurAppsOptions & Pick<AppProcessOptions, 'env'>,
): Promise<AppProcess & { url: string }> {
  // Logins belong to the server, not to the database.
  const login = `${new URL(databaseUrl).pathname.slice(1)}_partner_api`;
  return startOurApp(defer, 'partner', {
    databaseUrl: await createLogin(databaseUrl, login, 'partner_api'),
    secretKeys,
    ...options,
  });
}

/** Starts our API and our worker. */
export async function startOurApps(system: OurSystem, options: OurAppsOptions) {
  const worker = await system.startWorker({ built: options.built });
  return { worker, app: await startPartnerApi(system, { ...options, env: {} }) };
}

/** Starts our API and our worker, with an account. */
export async function startOurContestants(system: OurSystem, callbackUrl: string, options: OurAppsOptions) {
  const accounts = await system.addAccounts([[callbackUrl]]);
  const { app, worker } = await startOurApps(system, options);
  const headers = await issueClients(system.databaseUrl, accounts);
  const contestant = (title: string, input = {}): WriteContestant => ({
    name: title,
    request: createReferralRequest(app.url, headers, { ...referralInput, ...input }),
    async settledCpuMs() {
      await system.untilSettled();
      return { api: (await app.usage()).cpuMs, worker: (await worker.usage()).cpuMs };
    },
  });
  return {
    withoutKeys: contestant(ours),
    // A request has one number, which is that of its key.
    withKeys: contestant(`${ours}, a new idempotency key each`, {
      externalReference: 'CRM-1',
      idempotencyKey: 'key-{n}',
    }),
    app,
    worker,
  };
}
