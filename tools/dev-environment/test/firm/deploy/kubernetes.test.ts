import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { appOf } from '@deedwire/core';
import { findFreePort } from '@deedwire/embedded-postgres';
import { firm, interfaceNames } from '@deedwire/firm';
import { createLink, missing } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { groupRole } from '../../../src/start-system.ts';
import { workspaceRoot } from '../../../src/workspace.ts';
import { isWithout, run, tryRun } from '../../deploy/support/containers.ts';
import { createHarness, type Harness } from '../harness/index.ts';
import { expectDelivery } from './support/journey.ts';

const context = inject('containers');
const containers = context ?? { env: {}, folder: '', images: {} };
const podman = (...podmanArguments: string[]): Promise<string> => run(containers, 'podman', podmanArguments);

const apis = interfaceNames.map(appOf).toSorted();
const servers = [...apis, 'webhook-worker'] as const;
/** The last one is that of `/ready`. */
function portsOf(app: string): number[] {
  const name = interfaceNames.find((each) => appOf(each) === app);
  return name === undefined ? [4003] : [firm.interfaces[name].port, firm.interfaces[name].adminPort];
}

const manifests = join(workspaceRoot, 'deploy/kubernetes');
const kustomize = (folder: string): Promise<string> => run(containers, 'kubectl', ['kustomize', folder]);

/** The packages are not in the lockfile, because only this test needs them. */
const validators = ['kubernetes-models@5.1.0', 'yaml@2.9.1'];

interface Document {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: { template: { spec: PodSpec }; [field: string]: unknown };
}

interface PodSpec {
  terminationGracePeriodSeconds: number;
  securityContext: object;
  containers: {
    image: string;
    ports?: { name: string }[];
    securityContext: object;
    readinessProbe?: object;
    livenessProbe?: object;
  }[];
}

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubernetes-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Models = Record<string, (new (value: unknown) => { validate(): void }) | undefined>;

/** The classes of an API version, for example `apps/v1`. They are read by path, because the package exports them for imports only. */
async function modelsOf(apiVersion: string): Promise<Models> {
  const module: Models = await import(
    pathToFileURL(join(folder, 'node_modules/kubernetes-models', apiVersion, 'index.js')).href
  );
  return module;
}

/** Throws if a document is not valid. */
async function validate(document: Document): Promise<void> {
  const Model = (await modelsOf(document.apiVersion))[document.kind];
  if (Model === undefined) throw new Error(`${document.apiVersion} has no ${document.kind}`);
  new Model(document).validate();
}

/** The ports of a container, as its Deployment names them. */
const namedPortsOf = (app: string) => [
  ...portsOf(app)
    .slice(0, -1)
    .map((containerPort) => ({ name: 'http', containerPort })),
  ...portsOf(app)
    .slice(-1)
    .map((containerPort) => ({ name: 'admin', containerPort })),
];

const ofKind = (wanted: string, documents: readonly Document[]): Document[] =>
  documents.filter(({ kind }) => kind === wanted);

describe.skipIf(isWithout('kubectl'))('the manifests', () => {
  let documents: Document[];
  let gke: Document[];

  beforeAll(async () => {
    await run(containers, 'npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...validators]);
    const yaml: { parseAllDocuments(text: string): { toJS(): Document }[] } = createRequire(join(folder, 'index.js'))(
      'yaml',
    );
    const render = async (name: string): Promise<Document[]> =>
      yaml.parseAllDocuments(await kustomize(join(manifests, name))).map((document) => document.toJS());
    documents = [...(await render('migration')), ...(await render('apps'))];
    gke = await render('gke');
  });

  test('render to these documents, each of which is valid', async () => {
    const invalid: string[] = [];
    const names: string[] = [];
    for (const document of documents) {
      const name = `${document.kind} ${document.metadata.name.replace(/-[a-z0-9]{10}$/, '')}`;
      names.push(name);
      await validate(document).catch((error: unknown) => invalid.push(`${name}: ${String(error)}`));
    }
    expect(invalid).toEqual([]);
    expect(names.toSorted()).toEqual([
      'ConfigMap deedwire',
      ...servers.map((app) => `Deployment ${app}`),
      'Job deedwire-migrate',
      'Namespace deedwire',
      'NetworkPolicy deedwire-admin',
      'NetworkPolicy deedwire-clients',
      ...servers.map((app) => `PodDisruptionBudget ${app}`),
      ...apis.map((app) => `Service ${app}`),
    ]);
  });

  test('the validation finds a wrong field', async () => {
    const deployment = documents.find(({ kind }) => kind === 'Deployment') ?? missing();
    const wrong = { ...deployment, spec: { ...deployment.spec, replicas: 'two' } };
    await expect(validate(wrong)).rejects.toThrow('replicas');
  });

  test('the Job of the next release can take the name of a finished one', () => {
    const { metadata, spec } = documents.find(({ kind }) => kind === 'Job') ?? missing();
    expect(spec).toMatchObject({ ttlSecondsAfterFinished: 86_400 });
    expect(metadata).toMatchObject({
      annotations: {
        'argocd.argoproj.io/hook': 'PreSync',
        'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
        'kustomize.toolkit.fluxcd.io/force': 'enabled',
      },
    });
  });

  test('everything reaches the ports of clients, and only Prometheus and Google the admin ports', async () => {
    const pods = {
      podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'deedwire' } },
      policyTypes: ['Ingress'],
    };
    const prometheus = {
      namespaceSelector: { matchLabels: { 'deedwire/prometheus': 'true' } },
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
    };
    const google = [{ ipBlock: { cidr: '130.211.0.0/22' } }, { ipBlock: { cidr: '35.191.0.0/16' } }];
    for (const policy of ofKind('NetworkPolicy', gke)) await validate(policy);
    const shared = [
      { ...pods, ingress: [{ from: [prometheus], ports: [{ port: 'admin' }] }] },
      { ...pods, ingress: [{ ports: [{ port: 'http' }] }] },
    ];
    expect(ofKind('NetworkPolicy', documents).map(({ spec }) => spec)).toEqual(shared);
    expect(ofKind('NetworkPolicy', gke).map(({ spec }) => spec)).toEqual([
      ...shared,
      { ...pods, ingress: [{ from: google, ports: [{ port: 'admin' }] }] },
    ]);
    const ports = ofKind('Deployment', documents).map(({ metadata, spec }) => {
      expect(spec.template).toMatchObject({ metadata: { labels: pods.podSelector.matchLabels } });
      return [metadata.name, spec.template.spec.containers.flatMap((container) => container.ports ?? [])];
    });
    expect(Object.fromEntries(ports)).toEqual(Object.fromEntries(servers.map((app) => [app, namedPortsOf(app)])));
  });

  test('the load balancer of GKE asks /ready on the admin port of each interface', () => {
    const named = (kind: string, name: string): Document =>
      gke.find((document) => document.kind === kind && document.metadata.name === name) ?? missing();
    for (const name of apis) {
      const port = portsOf(name)[1];
      const annotations = {
        'cloud.google.com/neg': '{"ingress": true}',
        'cloud.google.com/backend-config': `{"default": "${name}"}`,
      };
      expect(named('Service', name)).toMatchObject({ metadata: { annotations } });
      expect(named('BackendConfig', name).spec).toMatchObject({
        healthCheck: { type: 'HTTP', requestPath: '/ready', port },
      });
      const [container] = named('Deployment', name).spec.template.spec.containers;
      expect(container).toMatchObject({ ports: [{ name: 'http' }, { name: 'admin', containerPort: port }] });
    }
    expect(gke.find(({ kind }) => kind === 'ConfigMap')).toMatchObject({
      data: { ADMIN_HOST: expect.any(String), KEEP_ALIVE_TIMEOUT_MS: '620000' },
    });
  });

  test('every pod is restricted and has time to stop, and every server has probes', () => {
    const pods = documents.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
    expect(pods).toHaveLength(servers.length + 1);
    for (const { kind, spec } of pods) {
      const pod = spec.template.spec;
      expect(pod.terminationGracePeriodSeconds).toBe(30);
      expect(pod.securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: 10_001,
        runAsGroup: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        if (kind === 'Job') continue;
        expect(container.readinessProbe).toMatchObject({ httpGet: { path: '/ready', port: 'admin' } });
        expect(container.livenessProbe).toMatchObject({ httpGet: { path: '/health', port: 'admin' } });
      }
    }
  });
});

/** As `kubectl create secret generic`. Podman 4.3 reads secrets in another format than it stores those of a file. */
async function createSecret(name: string, key: string, value: string): Promise<void> {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify({ [key]: Buffer.from(value).toString('base64') }));
  await podman('secret', 'create', name, file);
}

describe.skipIf(context === null || isWithout('kubectl'))('the rendered Deployments in Podman', () => {
  const network = 'deedwire-kubernetes';
  let harness: Harness;

  beforeAll(async () => {
    harness = await createHarness();
  });
  afterAll(async () => {
    await tryRun(containers, 'podman', ['play', 'kube', '--down', join(folder, 'rendered.yaml')]);
    await harness.close();
  });

  test('serve a lender, deliver an event, and stop with 0', async () => {
    await podman('network', 'create', network);
    const gateway = await podman('network', 'inspect', '--format={{(index .Subnets 0).Gateway}}', network);
    // The database and the receiver listen on the loopback interface. The pods reach them through their gateway.
    const link = createLink();
    const databasePort = await findFreePort();

    await createSecret(
      'deedwire-webhook-secret-keys',
      'webhook-secret-keys',
      `k1:${randomBytes(32).toString('base64')}`,
    );
    for (const app of servers) {
      const url = new URL(await harness.database.urlFor(groupRole(app)));
      url.hostname = gateway;
      url.port = String(databasePort);
      await createSecret(`deedwire-${app}`, 'database-url', url.href);
    }

    // Podman publishes every port of a container on the machine, and so could run one replica only.
    const ports: Record<string, { containerPort: number; hostPort: number }[]> = {};
    for (const app of servers) {
      ports[app] = [];
      for (const containerPort of portsOf(app)) ports[app].push({ containerPort, hostPort: await findFreePort() });
      const patch = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: app },
        spec: { replicas: 1, template: { spec: { containers: [{ name: app, ports: ports[app] }] } } },
      };
      await writeFile(join(folder, `${app}.yaml`), JSON.stringify(patch));
    }
    const certificates = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'deedwire-database-ca' }, data: {} };
    await writeFile(join(folder, 'database-ca.yaml'), JSON.stringify(certificates));
    const overlay = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      namespace: 'deedwire',
      resources: [relative(folder, join(manifests, 'apps')), 'database-ca.yaml'],
      // The receiver and the database are in a private network, without TLS.
      configMapGenerator: [
        {
          name: 'deedwire',
          behavior: 'merge',
          literals: ['NODE_ENV=test', 'WEBHOOK_CALLBACK_POLICY=development', 'DATABASE_TIMEOUT_MS=20000'],
        },
      ],
      images: servers.map((app) => ({
        name: `deedwire/${app}`,
        newName: `localhost/deedwire/${app}`,
        newTag: 'local',
      })),
      patchesStrategicMerge: servers.map((app) => `${app}.yaml`),
    };
    await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
    const rendered = join(folder, 'rendered.yaml');
    await writeFile(rendered, await kustomize(folder));

    await podman('play', 'kube', `--network=${network}`, rendered);
    try {
      await link.pass(Number(new URL(harness.database.databaseUrl).port), databasePort, gateway);
      const urlOf = (app: string, index: number): string => `http://127.0.0.1:${ports[app]?.[index]?.hostPort}`;
      for (const url of servers.map((app) => urlOf(app, portsOf(app).length - 1))) {
        const problems = async (): Promise<unknown> => (await fetch(`${url}/ready`)).json();
        await expect.poll(() => problems().catch(String)).toEqual({ ready: true, problems: [] });
      }
      await expectDelivery(
        { lender: `${urlOf('lender-api', 0)}/lenders/graphql`, partner: `${urlOf('partner-api', 0)}/partners/graphql` },
        harness.accounts,
        {
          reach: async (callbackUrl) => {
            callbackUrl.port = String(await link.pass(Number(callbackUrl.port), 0, gateway));
            callbackUrl.hostname = gateway;
          },
        },
      );
      const names = servers.map((app) => `${app}-pod-0-${app}`);
      // Podman does not read terminationGracePeriodSeconds.
      await podman('stop', '--time=30', ...names);
      for (const name of names) expect(await podman('inspect', '--format={{.State.ExitCode}}', name)).toBe('0');
    } finally {
      await link.close();
    }
  });
});
