import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import nodePlop, { type ActionType, type NodePlopAPI, type PromptQuestion } from 'node-plop';
import { isDefault, type Layout, readDefaultLayout } from '../../tools/layout/src/layout.ts';
import { add, addText, type Change, changeset, edit, newestOf, preview, template, withKey } from './changes.ts';

type Answers = Readonly<Record<string, string>>;
/** Returns true, or one line that says what is wrong. */
type Validate = (value: string, answers: Answers) => string | true;

/** The generators of `pnpm new`, for a service. The changes of each are relative to the root of the workspace. */
export async function openPlop(root: string, layout?: Layout): Promise<NodePlopAPI> {
  const plop = await nodePlop('', { destBasePath: root, force: false });
  const readText = (path: string): string => readFileSync(join(root, path), 'utf8');
  const readVersions = (path: string): Record<string, unknown> => JSON.parse(readText(path));
  const service = layout ?? (await readDefaultLayout());
  const { interfaceNames, contractOf, appOf, events, payloads, names } = service;
  const choices = new Map<string, readonly string[]>([
    ...interfaceNames.map((name) => [name, [name]] as const),
    ['all', interfaceNames],
  ]);
  const oneOf = listed(interfaceNames);
  // Of the application and, composed, of the platform.
  const eventVersions = `${payloads}/versions.json`;
  const readEventVersions = () => (payloads === null ? {} : readVersions(eventVersions));
  const interfaceVersions = (name: string): string => `${contractOf(name)}/versions.json`;
  /** The package of a folder. Without the scope, as changesets of this repository name it. */
  const packageOf = (folder: string): string => {
    if (!existsSync(join(root, folder, 'package.json'))) return packageOf(dirname(folder));
    return JSON.parse(readText(`${folder}/package.json`)).name.replace(/.*\//, '');
  };
  /** None for a service of another repository. */
  const changesetFor = (name: string, folders: readonly string[], apps: readonly string[] = []): Change[] =>
    service.root.startsWith('..') ? [] : [changeset(name, [...new Set(folders.map(packageOf)), ...apps])];
  // The apps that render, if this repository deploys them.
  const workers = isDefault(service) ? ['webhook-worker'] : [];
  const payloadsOf = (type: string): string => (isOwn(type) ? 'packages/webhook-contract' : (payloads ?? ''));
  /** The paths of the payload and the renderer. */
  const eventFiles = (type: string, version: string): [string, string] => [
    `${payloadsOf(type)}/src/${type}/${version}.ts`,
    `${isOwn(type) ? 'packages/core/src/own-events' : events}/${type}/${version}.ts`,
  ];

  const versionPrompt = (validate: Validate): PromptQuestion =>
    prompt('version', 'Version, for example 2027-06-01:', (version, answers) =>
      /^\d{4}-\d\d-\d\d$/.test(version) && new Date(Date.parse(version) || 0).toISOString().startsWith(version)
        ? validate(version, answers)
        : `"${version}" is not a version. A version is a date, for example 2027-06-01.`,
    );

  /** Copies the file of a version, with a TODO if its language has comments. */
  const copy = (from: string, path: string, newest: string, version: string): Change => {
    const comment = path.endsWith('.ts') ? '//' : '#';
    const todo = `${comment} TODO: change what differs from ${newest}, and delete this line.\n`;
    const text = readText(from).replaceAll(
      new RegExp(`(?<=^.* at (?:version )?|^ *"version": "|literal\\(')${newest}`, 'gm'),
      version,
    );
    return addText(path, path.endsWith('.json') ? text : todo + text);
  };

  plop.setGenerator('event', {
    prompts: [
      prompt('type', 'Event type, for example order.canceled:', (type) => {
        if (payloads === null) return `${service.root} publishes no payloads: it has no package with a versions.json.`;
        if (Object.hasOwn(readEventVersions(), type))
          return `The event type ${type} exists. To add a version, run pnpm new event-version ${type} <version>.`;
        if (isOwn(type))
          return `Events of ${type.split('.')[0]} are those of the platform. Name a record of the application, for example order.canceled.`;
        if (/^[a-z]+(?:_[a-z]+)*\.[a-z]+(?:_[a-z]+)*$/.test(type)) return true;
        return `"${type}" is not an event type. Write <noun>.<participle>, for example order.canceled.`;
      }),
      versionPrompt(() => true),
      prompt('interface', `Interface (${listed([...choices.keys()])}):`, (name) =>
        choices.has(name) ? true : `"${name}" is not an interface. Use ${listed([...choices.keys()])}.`,
      ),
    ],
    actions: actions(({ type, version, interface: name }) => {
      const [payload, renderer] = eventFiles(type, version);
      const exported = type.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const isUpdate = type.endsWith('.updated');
      const list = `${events}/index.ts`;
      const data = {
        isUpdate,
        hasParts: existsSync(join(root, events, 'parts.ts')),
        isListed: existsSync(join(root, service.root, 'src/personal-data.test.ts')),
        ...names,
      };
      return [
        add(payload, template('payload.ts', data)),
        add(renderer, template('renderer.ts', data)),
        add(`${events}/${type}/event.ts`, template('event.ts', data)),
        ...(existsSync(join(root, list))
          ? [edit(list, (text) => `${text}export { ${exported} } from './${type}/event.ts';\n`)]
          : []),
        edit(eventVersions, (text) => withKey(text, type, { [version]: preview })),
        edit(`${payloads}/event-types.json`, (text) => withKey(text, type, { interfaces: choices.get(name) })),
        ...changesetFor(`${type}-${version}`, [payloads ?? ''], workers),
      ];
    }),
    description:
      '`pnpm generate` renders the sample, and derives the fixtures from it. Call appendEvent in the transaction of the change, among the sources of the service: of an update (<noun>.updated), with the `changedPaths` of its snapshot, unless there are none.',
  });

  plop.setGenerator('event-version', {
    prompts: [
      prompt('type', 'Event type, for example order.canceled:', (type) =>
        isOwn(type) && !isDefault(service)
          ? `Events of ${type.split('.')[0]} are those of the platform.`
          : Object.hasOwn(readEventVersions(), type)
            ? true
            : `There is no event type ${type}. To add it, run pnpm new event ${type} <version> <interface>.`,
      ),
      versionPrompt((version, { type = '' }) => isNewest(version, readEventVersions()[type], type)),
    ],
    actions: actions(({ type, version }) => {
      const versions = readEventVersions()[type];
      const newest = newestOf(versions);
      const targets = eventFiles(type, version);
      return [
        ...eventFiles(type, newest).map((from, index) => copy(from, targets[index] ?? '', newest, version)),
        edit(`${payloadsOf(type)}/versions.json`, (text) =>
          withKey(text, type, { ...Object(versions), [version]: preview }),
        ),
        ...changesetFor(`${type}-${version}`, [payloads ?? ''], workers),
      ];
    }),
    description: 'Change the payload and the renderer together.',
  });

  plop.setGenerator('interface-version', {
    prompts: [
      prompt('interface', `Interface (${oneOf}):`, (name) =>
        interfaceNames.some((known) => known === name) ? true : `"${name}" is not an interface. Use ${oneOf}.`,
      ),
      versionPrompt((version, { interface: name = '' }) =>
        isNewest(version, readVersions(interfaceVersions(name)), `The ${name} interface`),
      ),
    ],
    actions: actions(({ interface: name, version }) => {
      const newest = newestOf(readVersions(interfaceVersions(name)));
      const own = `${contractOf(name)}/own`;
      const files = [`${own}/@.graphql`, `${own}/@.manifest.json`, `${appOf(name)}/versions/@.ts`];
      return [
        ...files.map((path) => copy(path.replace('@', newest), path.replace('@', version), newest, version)),
        edit(interfaceVersions(name), (text) => withKey(text, version, preview)),
        edit(`${own}/editions.json`, (text) => withKey(text, version, JSON.parse(text)[newest])),
        ...changesetFor(`${name}-${version}`, [contractOf(name), dirname(appOf(name))]),
      ];
    }),
    description:
      'Change the SDL in own/, then the schema of the app until the check "served schemas" passes. An operation that no longer fits needs an example at the new version. own/editions.json names the edition of what every interface has.',
  });
  return plop;
}

/** Whether the platform has the events of this noun. */
function isOwn(type: string): boolean {
  return /^(?:api_key|webhook(?:_[a-z]+)?)\./.test(type);
}

/** For example `customer or supplier`. */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names);
}

function prompt(name: string, message: string, validate: Validate): PromptQuestion {
  return { type: 'input', name, message, validate };
}

function actions(changes: (answers: { type: string; version: string; interface: string }) => Change[]) {
  return (answers: Answers = {}): ActionType[] => changes({ type: '', version: '', interface: '', ...answers });
}

function isNewest(version: string, versions: unknown, subject: string): string | true {
  const newest = newestOf(versions);
  return version > newest ? true : `${subject} has version ${newest}. A new version is a later date than ${version}.`;
}
