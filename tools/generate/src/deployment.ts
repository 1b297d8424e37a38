import { dirname, join, relative } from 'node:path';
import { defineService, type Interface, interfaceOf, roleOf } from '@deedwire/core';
import { isDefault, type LayoutWithDeployment } from '@deedwire/layout';
import type { Generated } from './generated.ts';
import { fileExists, findFiles, readText } from './workspace-files.ts';

/** The files of the service that the repository deploys, which are the templates of those of others. */
const templates = 'deploy';

/** Those that are the same for every service. No one else's files in the folders have such names. */
const shared = `${templates}/{compose,grafana,kubernetes,systemd}/**/{*.conf,*.yaml,dashboard.json,deedwire-compose.service,deedwire-webhook-worker.service}`;

/** `@` is the name of an interface. */
const files = ['kubernetes/apps/@-api.yaml', 'systemd/deedwire-@-api.service'].map((path) => `${templates}/${path}`);

interface Parts {
  path: string;
  /** The part of one interface. In the file, the parts follow each other. `@` is the name. */
  part: string;
  /** Before the first part. */
  before?: string;
  /** Between two parts. */
  separator?: string;
  /** Whether a part that exists stays as it is. */
  isKept?: true;
}

const prepare = 'deploy/compose/prepare.sh';
const alarms = 'deploy/prometheus/rules.test.yml';
const index = 'docs/operations/README.md';
const installation = 'docs/operations/install-systemd.md';
const compose = 'docs/operations/install-compose.md';
const kubernetes = 'docs/operations/install-kubernetes.md';
const upgrade = 'docs/operations/upgrade.md';
const network = 'docs/operations/network.md';

const parts: readonly Parts[] = [
  { path: '.github/ISSUE_TEMPLATE/bug.yml', part: ' +- @ interface\n' },
  { path: 'deploy/Containerfile', part: 'FROM runtime AS @-api\n(?:.+\n)+\n' },
  { path: 'deploy/compose.yaml', part: '  @-api:\n(?:    .*\n)+\n' },
  { path: 'deploy/compose.yaml', before: 'depends_on: \\[', part: '@-api', separator: ', ' },
  { path: 'deploy/compose/Caddyfile', part: '\thandle /\\S+ {\n(?:\t\t.*\n)+\t}\n' },
  { path: prepare, part: '@-api:[a-z_]+', separator: ' ' },
  { path: 'deploy/compose/prometheus.yml', part: '.*names: \\[@-api\\].*\n' },
  { path: 'deploy/kubernetes/apps/kustomization.yaml', part: '  - @-api\\.yaml\n' },
  { path: 'deploy/kubernetes/gke/backend-configs.yaml', part: 'apiVersion.*\n(?:(?!---).*\n)+', separator: '---\n' },
  { path: 'deploy/kubernetes/gke/services.yaml', part: 'apiVersion.*\n(?:(?!---).*\n)+', separator: '---\n' },
  { path: 'deploy/prometheus/rules.yml', part: '.*absent\\(.*"@-api".*\n' },
  { path: alarms, part: '.*deedwire_build_info{app="@-api".*\n +values: \'1.*\n', isKept: true },
  { path: alarms, part: ' +- {\n.*"DeedwireMissing".*app="@-api".*\n.*\n +}\n', isKept: true },
  { path: 'docs/errors.md', part: '`/[a-z-]+/graphql`', separator: ', ' },
  { path: 'docs/settings.md', part: '\\d+ for `@-api`', separator: ', ' },
  { path: installation, before: 'for app in (?:webhook-worker )?', part: '@-api', separator: ' ' },
  { path: installation, part: '@-api:\\d+', separator: ' ' },
  { path: upgrade, before: 'for app in (?:webhook-worker )?', part: '@-api', separator: ' ' },
  { path: upgrade, part: '@-api:\\d+', separator: ' ' },
  { path: 'docs/operations/alerts.md', part: "'127\\.0\\.0\\.1:41\\d\\d'", separator: ', ' },
  { path: network, part: '  use_backend @-api .*\n' },
  { path: network, part: 'backend @-api\n(?:  .*\n)+' },
  {
    path: 'docs/operations/database.md',
    before: 'database deedwire to ',
    part: 'deedwire_[a-z_]+_api',
    separator: ', ',
  },
  { path: index, part: '`@-api`', separator: ', ' },
  { path: compose, before: 'for app in (?:webhook-worker )?', part: '@-api', separator: ' ' },
  { path: compose, part: '  @-api: \\{ environment: \\*settings \\}\n' },
  { path: compose, before: '1-1h}" ', part: '@-api', separator: ' ' },
  { path: kubernetes, before: 'for app in (?:webhook-worker )?', part: '@-api', separator: ' ' },
  { path: kubernetes, part: '`/[a-z-]+/` to `@-api`', separator: ', ' },
  { path: kubernetes, part: '  - name: deedwire/@-api\n    newName: .*\n    newTag: .*\n' },
  { path: upgrade, part: '`\\w+/@-api`', separator: ', ' },
  { path: 'docs/operations/restore.md', before: '(?:stop|deployment|for app in) ', part: '@-api', separator: ' ' },
  { path: network, part: '\\d+ `@-api`', separator: ', ' },
];

/** What the files name of an interface. */
interface Named extends Pick<Interface, 'adminPort' | 'path' | 'port'> {
  readonly name: string;
}

/** The interface that the templates name first, and those of the service. */
interface Deployed {
  readonly template: Named;
  readonly interfaces: readonly Named[];
  readonly folderOf: (name: string) => string;
}

/**
 * The files of deployment that repeat something for each interface. What they say of the first one is the template of
 * the others. The files of another service than the deployed one are complete, in its own folder.
 */
export function deployment(layout: LayoutWithDeployment): Generated {
  const { names, interfaces, interfaceNames, appOf, deploy } = layout;
  const service = defineService({ names, interfaces });
  const folderOf = (name: string): string => dirname(appOf(name));
  const named = interfaceNames.map((name) => ({ ...interfaceOf(service, name), name }));
  const deployed: Deployed = { template: readTemplate(), interfaces: named, folderOf };
  const generated = new Map<string, string>();
  for (const file of files) {
    const template = readText(file.replace('@', deployed.template.name));
    for (const each of named) generated.set(file.replace('@', each.name), render(deployed, template, each));
  }
  const due = parts.filter(({ path }) => isDefault(layout) || (path.startsWith(`${templates}/`) && path !== alarms));
  for (const each of due)
    generated.set(each.path, withParts(deployed, generated.get(each.path) ?? readText(each.path), each));
  generated.set(prepare, (generated.get(prepare) ?? '').replace(/^role_prefix=.*$/m, `role_prefix=${names.service}_`));
  const place = (path: string): string => (isDefault(layout) ? path : join(deploy, relative(templates, path)));
  if (!isDefault(layout))
    for (const path of findFiles(shared))
      if (!path.endsWith('-api.yaml') && !generated.has(path)) generated.set(path, readText(path));
  return {
    files: new Map(Array.from(generated, ([path, text]) => [place(path), text])),
    stale: files.flatMap((file) => findFiles(place(file.replace('@', '*')))),
  };
}

function readTemplate(): Named {
  const [, name = '', port, adminPort] =
    /^FROM runtime AS (\S+)-api\nEXPOSE (\d+) (\d+)$/m.exec(readText(`${templates}/Containerfile`)) ?? [];
  const [, path = ''] = /^\thandle (\/\S+)\/\* \{$/m.exec(readText(`${templates}/compose/Caddyfile`)) ?? [];
  return { name, path, port: Number(port), adminPort: Number(adminPort) };
}

function withParts(deployed: Deployed, text: string, { path, part, before = '', separator = '', isKept }: Parts) {
  const { template: first, interfaces } = deployed;
  const anyPart = part.replaceAll('@', '[a-z][a-z0-9-]*');
  let isFound = false;
  const changed = text.replaceAll(new RegExp(`(?<=${before})${anyPart}(?:${separator}${anyPart})*`, 'g'), (run) => {
    const found = run.match(new RegExp(anyPart, 'g')) ?? [];
    const partOf = (named: Named) => found.find((each) => nameOf(named).test(each));
    const template = partOf(first);
    if (template === undefined) return run;
    isFound = true;
    return interfaces.map((each) => (isKept && partOf(each)) || render(deployed, template, each)).join(separator);
  });
  if (!isFound) throw new Error(`${path} has no part of the ${first.name} interface: ${part}`);
  return changed;
}

/** Something that only the parts of this interface contain. */
function nameOf({ name, path, adminPort }: Named): RegExp {
  return new RegExp(`(?<![a-z-])${name}(?=-api| interface)|(?<![a-z])${roleOf(name)}|${path}/|\\b${adminPort}\\b`);
}

/** What a file says of the first interface, of another one. */
function render({ template: from, folderOf }: Deployed, template: string, to: Named): string {
  const flags = flagsOf(folderOf(to.name));
  const renamed = template
    .replaceAll(`${from.path}/`, `${to.path}/`)
    .replaceAll(new RegExp(`\\b${from.name}(?=-api| interface)`, 'g'), to.name)
    .replaceAll(new RegExp(`(?<=\\b|_)${roleOf(from.name)}\\b`, 'g'), roleOf(to.name))
    .replaceAll(new RegExp(`\\b${from.port}\\b`, 'g'), String(to.port))
    .replaceAll(new RegExp(`\\b${from.adminPort}\\b`, 'g'), String(to.adminPort));
  if (flags === null) return renamed;
  return renamed
    .replaceAll(/(?<=\/node )(?:--\S+ )*/g, flags.map((flag) => `${flag} `).join(''))
    .replaceAll(/(?<=\/node", )(?:"--[^"]+", )*/g, flags.map((flag) => `"${flag}", `).join(''));
}

/** The flags of Node in the script `start` of an app. Null if the app has no package. */
function flagsOf(folder: string): string[] | null {
  const path = `${folder}/package.json`;
  if (!fileExists(path)) return null;
  const { scripts }: { scripts?: { start?: string } } = JSON.parse(readText(path));
  return scripts?.start?.split(' ').slice(1, -1) ?? null;
}
