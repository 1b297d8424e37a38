import { hash } from 'node:crypto';
import { appOf, interfaceNamesOf, ofService } from '@deedwire/core';
import { type EndingUse, selectEndingUse, selectEnvironment, selectStoredBuilds } from '@deedwire/store/environment';
import type { ActionContext } from '../kernel/context.ts';
import { contractPackageOf } from '../kernel/event-contracts.ts';
import { exportedContracts } from '../kernel/exported-contracts.ts';

export type { EndingUse };

/** Those that run only now and then. */
const otherApps = ['operator-cli'];

/** What the contracts of an app can have: `contract-check` believes no more of a build that a login of the app has stored. */
const appsOf = ofService((service) => [
  ...interfaceNamesOf(service).map((name) => ({
    app: appOf(name),
    interface: name,
    package: contractPackageOf(name),
    renders: false,
  })),
  { app: 'webhook-worker', interface: null, package: null, renders: true },
  ...otherApps.map((app) => ({ app, interface: null, package: null, renders: false })),
]);

/**
 * What runs in an environment, what its clients pin and what they use: the file that `contract-check can-i-deploy` reads.
 *
 * @param rollbacks builds that may be deployed again, `customer-api@1.4.0`: they are in the file without a process, too
 */
export async function exportEnvironment(context: ActionContext, environment: string, rollbacks: readonly string[]) {
  const apps = appsOf(context.service);
  const expectedApps = apps.map(({ app }) => app).filter((app) => !otherApps.includes(app));
  const stored = await selectEnvironment(context.store, context, rollbacks);
  const { contracts, incomplete } = exportedContracts(stored.contracts);
  const lists = { expectedApps, ...stored.lists, contracts, incomplete: [...stored.incomplete, ...incomplete] };
  const counted = [
    'expectedApps',
    'processes',
    'contracts',
    'pins',
    'queued',
    'uses',
    'counting',
    'gaps',
    'incomplete',
  ];
  const rowCounts = Object.fromEntries(
    counted.map((name) => [name, Object.keys(Object(Reflect.get(lists, name))).length]),
  );
  const written = { formatVersion: 1, environment, otherApps, apps, ...lists, rowCounts };
  return { ...written, digest: hash('sha256', JSON.stringify(written)) };
}

/** Sentences about the builds whose contracts the database does not have. */
export async function describeUnknownBuilds({ store }: ActionContext, builds: readonly string[]): Promise<string[]> {
  const stored = builds.length === 0 ? [] : await selectStoredBuilds(store);
  return builds
    .filter((build) => !stored.includes(build))
    .map((build) => {
      const [app = ''] = build.split('@');
      const known = stored.filter((other) => other.startsWith(`${app}@`));
      const found = known.length === 0 ? `none of ${app}` : `those of ${known.join(', ')}`;
      return `The database has no contracts of ${build}, so the export lacks them. It has ${found}.`;
    });
}

/** Who pins or uses the versions whose sunset is until a day, `YYYY-MM-DD`. Retired ones too. */
export async function listEndingUse(context: ActionContext, until: string): Promise<EndingUse[]> {
  const sources = [
    ...Object.entries(context.service.interfaces).map(([name, { versions }]) => ({ name, versions })),
    ...context.service.events.map(({ type, versions }) => ({ name: type, versions })),
  ];
  const sunsets = sources.flatMap(({ name, versions }) =>
    versions.flatMap(({ version, sunsetOn }): [string, string][] =>
      sunsetOn !== null && sunsetOn <= until ? [[`${name}@${version}`, sunsetOn]] : [],
    ),
  );
  return selectEndingUse(context.store, context, new Map(sunsets));
}
