import { hash } from 'node:crypto';
import { appOf, deployedInterfaces, interfaceNames } from '@deedwire/domain';
import { type EndingUse, selectEndingUse, selectEnvironment } from '@deedwire/store/environment';
import { webhookEventTypes } from '@deedwire/webhook-events';
import type { ActionContext } from './context.ts';
import { exportedContracts } from './exported-contracts.ts';
import { interfaceVersions } from './generated/interface-versions.ts';

export type { EndingUse };

const expectedApps = [...deployedInterfaces.map(appOf), 'webhook-worker'];
/** Those that run only now and then. */
const otherApps = ['operator-cli'];

/** What the contracts of an app can have: `contract-check` believes no more of a build that a login of the app has stored. */
const apps = [
  ...interfaceNames.map((name) => ({
    app: appOf(name),
    interface: name,
    package: `@deedwire/${name}-schema`,
    renders: false,
  })),
  { app: 'webhook-worker', interface: null, package: null, renders: true },
  { app: 'operator-cli', interface: null, package: null, renders: false },
];

/**
 * What runs in an environment, what its clients pin and what they use: the file that `contract-check can-i-deploy` reads.
 *
 * @param rollbacks builds that may be deployed again, `partner-api@1.4.0`: they are in the file without a process, too
 */
export async function exportEnvironment(
  { store, gidNamespace }: ActionContext,
  environment: string,
  rollbacks: readonly string[],
) {
  const stored = await selectEnvironment(store, gidNamespace, rollbacks);
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

/** Who pins or uses the versions whose sunset is until a day, `YYYY-MM-DD`. Retired ones too. */
export async function listEndingUse({ store, gidNamespace }: ActionContext, until: string): Promise<EndingUse[]> {
  const sources = [
    ...interfaceNames.map((name) => ({ name, versions: interfaceVersions[name] })),
    ...webhookEventTypes.map(({ type, versions }) => ({ name: type, versions })),
  ];
  const sunsets = sources.flatMap(({ name, versions }) =>
    versions.flatMap(({ version, sunsetOn }): [string, string][] =>
      sunsetOn !== null && sunsetOn <= until ? [[`${name}@${version}`, sunsetOn]] : [],
    ),
  );
  return selectEndingUse(store, gidNamespace, new Map(sunsets));
}
