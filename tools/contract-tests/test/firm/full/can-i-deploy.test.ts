import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firm } from '@deedwire/firm';
import { forFile } from '@deedwire/testing/for-file';
import { createRenderer } from '@deedwire/webhook-rendering';
import { describe, expect, test, vi } from 'vitest';
import { run } from '../../../../../packages/contract-check/src/cli/run.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// Asks about the builds of this tree, and about the same builds with one contract less. Each refused pair of a writer and a worker is
// rendered, to show that it breaks, and each allowed one, to show that it does not.

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Build {
  app: string;
  version: string;
  migration: string;
  serves: { interface: string; version: string; sdl: string; sha256: string }[];
  pins: { event: string }[];
  appends: { type: string; snapshot: Schema }[];
  renders: { event: string; needs: Schema }[];
}

const { path: folder } = await forFile(temporaryFolder('can-i-deploy'));

const apps = ['lender-api', 'operator-cli', 'partner-api', 'webhook-worker'] as const;
const [lenderApi, operatorCli, partnerApi, worker] = apps.map((app): Build =>
  JSON.parse(readFileSync(join(workspaceRoot, `apps/${app}/dist/contracts.json`), 'utf8')),
) as [Build, Build, Build, Build];
const all = [lenderApi, operatorCli, partnerApi, worker];

/** Another build of the app with other contracts. */
const other = (build: Build, change: Partial<Build>): Build => ({
  ...build,
  version: `${build.version}-other`,
  ...change,
});
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const day = 86_400_000;

/** An environment in which builds run, and in which everything was counted. */
function environmentOf(live: readonly Build[], changes: object = {}): string {
  const digestOf = (build: Build): string => hash('sha256', `${JSON.stringify(build, null, 2)}\n`);
  const lists = {
    expectedApps: ['lender-api', 'partner-api', 'webhook-worker'],
    processes: live.map((build) => ({
      app: build.app,
      version: build.version,
      digest: digestOf(build),
      startedAt: ago(day),
      lastSeenAt: ago(30_000),
    })),
    contracts: Object.fromEntries(live.map((build) => [digestOf(build), build])),
    pins: [],
    queued: [],
    isQueueCut: false,
    uses: [],
    counting: ['lender-api', 'partner-api'].map((app) => ({
      app,
      instance: app,
      from: ago(91 * day),
      until: ago(30_000),
      overflowed: false,
      coordinates: '',
    })),
    gaps: [],
    ...changes,
  };
  const { isQueueCut: _isQueueCut, ...counted } = lists;
  const written = {
    formatVersion: 1,
    environment: 'production',
    installation: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    takenAt: ago(10_000),
    migration: worker.migration,
    needsMigration: null,
    otherApps: ['operator-cli'],
    ...lists,
    rowCounts: Object.fromEntries(Object.entries(counted).map(([name, rows]) => [name, Object.keys(rows).length])),
  };
  return JSON.stringify({ ...written, digest: hash('sha256', JSON.stringify(written)) });
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** Asks about a build beside others. Returns the rules of the findings, and `yes` if there is none. */
async function ask(build: Build, live: readonly Build[], changes: object = {}): Promise<string> {
  const environment = file('production.json', environmentOf(live, changes));
  const args = ['--environment', environment, '--build', file('contracts.json', JSON.stringify(build))];
  const { exitCode, stdout, stderr } = await run(['can-i-deploy', '--root', folder, '--format', 'json', ...args]);
  expect(stderr).toBe('');
  const { answer, findings } = JSON.parse(stdout);
  expect(exitCode).toBe({ yes: 0, no: 1, unknown: 3 }[String(answer)]);
  const rules = new Set(findings.map(({ rule }: { rule: string }) => rule));
  return [answer, ...rules].join(' ');
}

test.each(all)('$app fits the builds of this tree', async (build) => {
  expect(await ask(build, all)).toBe('yes');
});

const snapshots = Object.fromEntries(firm.events.map(({ type, sample }) => [type, sample('service')]));
const renderer = createRenderer(firm, 'service');
const typeOf = (event: string): string => event.split('@')[0] ?? '';

function render(event: string, snapshot: object): string {
  const [type = '', version = ''] = event.split('@');
  return renderer.render({ id: '1', type, occurredAt: new Date(0), snapshot } as never, version).toString();
}

/** The paths of all properties of a schema, and whether earlier builds did not append them. */
function pathsOf({ properties = {}, required = [] }: Schema): { path: string[]; isOptional: boolean }[] {
  return Object.entries(properties).flatMap(([name, inner]) => [
    { path: [name], isOptional: !required.includes(name) },
    ...pathsOf(inner).map(({ path, isOptional }) => ({ path: [name, ...path], isOptional })),
  ]);
}

function withoutPath<T>(value: T, [name = '', ...rest]: readonly string[], isSchema: boolean): T {
  const copy = structuredClone(value) as Record<string, unknown> & Schema;
  const members = (isSchema ? copy.properties : copy) as Record<string, unknown>;
  if (rest.length > 0) members[name] = withoutPath(members[name], rest, isSchema);
  else {
    delete members[name];
    if (isSchema) copy.required = copy.required?.filter((each) => each !== name) ?? [];
  }
  return copy as T;
}

// In turns, the API or the worker is the build that is asked about.
const appended = [partnerApi, lenderApi]
  .flatMap((api) =>
    api.appends.flatMap(({ type, snapshot }) =>
      pathsOf(snapshot).map(({ path, isOptional }) => ({ api, type, path: path.join('.'), isOptional })),
    ),
  )
  .map((each, index) => ({ ...each, isOfApi: index % 2 === 0 }));

/** As `ask`, for a question about events: reading the SDL, which has no part in the answer, takes a third of the time. */
function askWithoutSdl(build: Build, live: readonly Build[], changes: object = {}): Promise<string> {
  const withoutInterfaces = (each: Build): Build => ({ ...each, serves: [] });
  return ask(withoutInterfaces(build), live.map(withoutInterfaces), changes);
}

describe.each(appended)('a snapshot of $type in $api.app without $path', ({ api, type, path, isOptional, isOfApi }) => {
  const steps = path.split('.');
  const less = other(api, {
    appends: api.appends.map((each) =>
      each.type === type ? { ...each, snapshot: withoutPath(each.snapshot, steps, true) } : each,
    ),
  });
  const events = worker.renders.map(({ event }) => event).filter((event) => typeOf(event) === type);
  /** What the worker renders of the whole snapshot, or, of what an earlier build appends, null in place of the value. */
  const expectedOf = (event: string): string => {
    const { data, ...envelope } = JSON.parse(render(event, snapshots[type] ?? {}));
    return JSON.stringify({ ...envelope, data: { ...data, ...(isOptional && { [path]: null }) } });
  };

  test('is refused exactly if the worker cannot render it', async () => {
    const snapshot = withoutPath(snapshots[type] ?? {}, steps, false);
    const broken = events.filter((event) => {
      try {
        return render(event, snapshot) !== expectedOf(event);
      } catch {
        return true;
      }
    });
    const expected = broken.length > 0 ? 'no deploy/snapshotInsufficient' : 'yes';
    const live = [...all.filter((each) => each !== api), less];
    const answer = await (isOfApi ? askWithoutSdl(less, all) : askWithoutSdl(worker, live));
    expect({ broken, answer }).toEqual({ broken, answer: expected });
  });
});

describe.each(worker.renders.map(({ event }) => event))('a worker without %s', (event) => {
  const less = other(worker, { renders: worker.renders.filter((each) => each.event !== event) });
  const isOnly = !less.renders.some((each) => typeOf(each.event) === typeOf(event));
  const rule =
    isOnly && !worker.appends.some(({ type }) => type === typeOf(event)) ? 'typeUnknown' : 'versionNotRendered';
  const users = [lenderApi, partnerApi, operatorCli].filter(({ pins }) => pins.some((pin) => pin.event === event));

  test('is refused beside a build that accepts the pin, in both orders, and allowed once none does', async () => {
    expect(users.length).toBeGreaterThan(0);
    expect(await askWithoutSdl(less, all)).toMatch(/^no /);
    expect(await askWithoutSdl(less, all)).toContain(isOnly ? 'deploy/typeUnknown' : `deploy/${rule}`);
    const [first = lenderApi] = users;
    expect(await askWithoutSdl(first, [...all.filter((each) => each !== worker), less])).toMatch(/^no /);
    const without = (build: Build): Build =>
      other(build, {
        pins: build.pins.filter((pin) => pin.event !== event),
        appends: isOnly ? build.appends.filter(({ type }) => type !== typeOf(event)) : build.appends,
      });
    const writers = [lenderApi, operatorCli, partnerApi].map(without);
    expect(await askWithoutSdl(without(less), [...writers, without(worker)])).toBe('yes');
    const pin = { id: 'gid://service/WebhookSubscription/1', account: 'a', interface: 'lender', event, version: null };
    expect(await askWithoutSdl(without(less), [...writers, without(worker)], { pins: [pin] })).toBe(
      'no deploy/versionNotRendered',
    );
  });
});

describe.each([
  ['lender-api', lenderApi, '2027-02-01'],
  ['lender-api', lenderApi, '2026-11-01'],
  ['partner-api', partnerApi, '2026-11-01'],
] as const)('%s', (_app, api, version) => {
  const [name = ''] = api.app.split('-');
  const less = other(api, { serves: api.serves.filter((each) => each.version !== version) });
  const pin = { id: 'client_1', account: 'a', interface: name, event: null, version };
  const use = {
    client: 'client_2',
    account: 'a',
    interface: name,
    version,
    coordinate: null,
    firstDay: ago(0).slice(0, 10),
    lastDay: ago(0).slice(0, 10),
    count: 1,
  };

  test(`without ${version} is refused if a client pins or used it, and unknown without counts`, async () => {
    expect(await ask(less, all)).toBe('yes');
    expect(await ask(less, all, { pins: [pin] })).toBe('no deploy/usedContractBroken');
    expect(await ask(less, all, { uses: [use] })).toBe('no deploy/usedContractBroken');
    expect(await ask(less, all, { counting: [] })).toBe('unknown deploy/useNotCounted');
    // The other order adds the version.
    expect(await ask(api, [...all.filter((each) => each !== api), less], { pins: [pin] })).toBe('yes');
  });

  test(`fits the portal at ${version}, and not without a field that it reads or without the version`, async () => {
    const uses = join(folder, 'uses.json');
    const schema = join(workspaceRoot, `packages/${name}-schema/versions/${version}.graphql`);
    const documents = join(workspaceRoot, 'packages/portal/src/documents/*.graphql');
    const used = await run([
      'uses',
      '--consumer',
      'portal',
      '--schema',
      schema,
      '--documents',
      documents,
      '--output',
      uses,
    ]);
    expect(used).toMatchObject({ exitCode: 0 });
    const askFor = async (live: readonly Build[]): Promise<string> => {
      const args = ['--environment', file('production.json', environmentOf(live)), '--consumer', uses];
      const { stdout } = await run(['can-i-deploy', '--root', folder, ...args]);
      return stdout;
    };
    expect(await askFor(all)).toMatch(/^yes: portal fits production\.\n/);
    const broken = other(api, {
      serves: api.serves.map((each) => ({ ...each, sdl: each.sdl.replace(/^ {2}webhookDelivery\(/m, '  renamed(') })),
    });
    const live = [...all.filter((each) => each !== api), broken];
    expect(await askFor(live)).toContain('Cannot query field "webhookDelivery"');
    const without = await askFor([...all.filter((each) => each !== api), less]);
    expect(without).toMatch(less.serves.length > 0 ? /^no: portal needs version/ : /^unknown: portal needs @deedwire/);
  });
});

test('a build is refused on a database without its migration, and an older build is not', async () => {
  const [older, newer] = [other(lenderApi, { migration: '0001-first' }), other(lenderApi, { migration: '9999-next' })];
  expect(await ask(newer, all)).toBe('no deploy/migrationMissing');
  expect(await ask(older, all)).toBe('yes');
});
