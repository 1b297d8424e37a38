import { dirname } from 'node:path';
import { defineService, interfaceOf, roleOf, type Service } from '@deedwire/core';
import type { Layout } from '@deedwire/layout';
import type { Generated } from './generated.ts';
import { readText } from './workspace-files.ts';

/** `@` is the name of an interface. */
const files = ['deploy/kubernetes/apps/@-api.yaml', 'deploy/systemd/deedwire-@-api.service'];

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

const alarms = 'deploy/prometheus/rules.test.yml';
const index = 'docs/operations/README.md';
const installation = 'docs/operations/install-systemd.md';
const compose = 'docs/operations/install-compose.md';
const kubernetes = 'docs/operations/install-kubernetes.md';
const upgrade = 'docs/operations/upgrade.md';
const network = 'docs/operations/network.md';

/** @param app the folder of the app of an interface, of which `@` is the name */
const partsOfFiles = (app: string): readonly Parts[] => [
  { path: '.github/ISSUE_TEMPLATE/bug.yml', part: ' +- @ interface\n' },
  { path: 'deploy/Containerfile', part: 'FROM runtime AS @-api\n(?:.+\n)+\n' },
  { path: 'deploy/compose.yaml', part: '  @-api:\n(?:    .*\n)+\n' },
  { path: 'deploy/compose.yaml', before: 'depends_on: \\[', part: '@-api', separator: ', ' },
  { path: 'deploy/compose/Caddyfile', part: '\thandle /\\S+ {\n(?:\t\t.*\n)+\t}\n' },
  { path: 'deploy/compose/prepare.sh', part: '@-api:[a-z_]+', separator: ' ' },
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
  { path: upgrade, part: `\`${app}\``, separator: ', ' },
  { path: 'docs/operations/restore.md', before: '(?:stop|deployment|for app in) ', part: '@-api', separator: ' ' },
  { path: network, part: '\\d+ `@-api`', separator: ', ' },
];

/** The service, and the folder of the app of an interface. */
interface Deployed {
  readonly service: Service;
  /** The first one is the template. */
  readonly names: readonly string[];
  readonly first: string;
  readonly folderOf: (name: string) => string;
}

/**
 * The files of deployment that repeat something for each interface. What they say of the first one is the template of
 * the others.
 */
export function deployment({ names: given, interfaces, interfaceNames: names, appOf }: Layout): Generated {
  const [first = ''] = names;
  const folderOf = (name: string): string => dirname(appOf(name));
  const deployed = { service: defineService({ names: given, interfaces }), names, first, folderOf };
  const generated = new Map<string, string>();
  for (const file of files) {
    const template = readText(file.replace('@', first));
    for (const name of names) generated.set(file.replace('@', name), render(deployed, template, name));
  }
  for (const parts of partsOfFiles(folderOf('@')))
    generated.set(parts.path, withParts(deployed, generated.get(parts.path) ?? readText(parts.path), parts));
  return { files: generated };
}

function withParts(deployed: Deployed, text: string, { path, part, before = '', separator = '', isKept }: Parts) {
  const { names, first, service } = deployed;
  const anyPart = part.replaceAll('@', '[a-z][a-z0-9-]*');
  let isFound = false;
  const changed = text.replaceAll(new RegExp(`(?<=${before})${anyPart}(?:${separator}${anyPart})*`, 'g'), (run) => {
    const found = run.match(new RegExp(anyPart, 'g')) ?? [];
    const partOf = (name: string) => found.find((each) => nameOf(service, name).test(each));
    const template = partOf(first);
    if (template === undefined) return run;
    isFound = true;
    return names.map((name) => (isKept && partOf(name)) || render(deployed, template, name)).join(separator);
  });
  if (!isFound) throw new Error(`${path} has no part of the ${first} interface: ${part}`);
  return changed;
}

/** Something that only the parts of this interface contain. */
function nameOf(service: Service, name: string): RegExp {
  const { path, adminPort } = interfaceOf(service, name);
  return new RegExp(`(?<![a-z-])${name}(?=-api| interface)|(?<![a-z])${roleOf(name)}|${path}/|\\b${adminPort}\\b`);
}

/** What a file says of the first interface, of another one. */
function render({ service, first, folderOf }: Deployed, template: string, name: string): string {
  const [from, to] = [interfaceOf(service, first), interfaceOf(service, name)];
  const { scripts }: { scripts: { start: string } } = JSON.parse(readText(`${folderOf(name)}/package.json`));
  const flags = scripts.start.split(' ').slice(1, -1);
  return template
    .replaceAll(`${from.path}/`, `${to.path}/`)
    .replaceAll(new RegExp(`\\b${first}(?=-api| interface)`, 'g'), name)
    .replaceAll(new RegExp(`(?<=\\b|_)${roleOf(first)}\\b`, 'g'), roleOf(name))
    .replaceAll(new RegExp(`\\b${from.port}\\b`, 'g'), String(to.port))
    .replaceAll(new RegExp(`\\b${from.adminPort}\\b`, 'g'), String(to.adminPort))
    .replaceAll(/(?<=\/node )(?:--\S+ )*/g, flags.map((flag) => `${flag} `).join(''))
    .replaceAll(/(?<=\/node", )(?:"--[^"]+", )*/g, flags.map((flag) => `"${flag}", `).join(''));
}
