import { hash } from 'node:crypto';
import { appOf, deployedInterfaces, interfaceNames } from '@deedwire/domain';
import { type EndingUse, selectEndingUse, selectEnvironment } from '@deedwire/store/environment';
import { webhookEventTypes } from '@deedwire/webhook-events';
import type { ActionContext } from './context.ts';
import { interfaceVersions } from './generated/interface-versions.ts';

export type { EndingUse };

const expectedApps = [...deployedInterfaces.map(appOf), 'webhook-worker'];
/** Those that run only now and then. */
const otherApps = ['operator-cli'];

/** What runs in an environment, what its clients pin and what they use: the file that `contract-check can-i-deploy` reads. */
export async function exportEnvironment({ store, gidNamespace }: ActionContext, environment: string) {
  const rows: Record<string, unknown> = { expectedApps, ...(await selectEnvironment(store, gidNamespace)) };
  const lists = ['expectedApps', 'processes', 'contracts', 'pins', 'queued', 'uses', 'counting', 'gaps'];
  const rowCounts = Object.fromEntries(lists.map((name) => [name, Object.keys(Object(rows[name])).length]));
  const written = { formatVersion: 1, environment, otherApps, ...rows, rowCounts };
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
