import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceNames, interfaces } from '../../packages/domain/src/interfaces.ts';
import {
  add,
  addText,
  changeset,
  edit,
  eventVersions,
  newestOf,
  preview,
  template,
  withKey,
  type Change,
} from './changes.ts';

const nameMaxLength = 32;

/** Words of SQL, JavaScript, the SDL and the operator's commands, which a name must not be. Tables of the database are taken too. */
const reserved = new Set(
  `all analyse analyze and any app array as asc async asymmetric await boolean both break case cast catch check class code collate column
  const constraint continue create current date debugger default deferrable delete desc directive distinct do else end enum error event
  except export extend extends false fetch field finally float for foreign fragment from function grant group having id if implements
  import in initially input instanceof int interface intersect into key lateral leading let limit localtime mutation name new node not
  null of offset on only operator or order package placing primary private protected public query references return returning schema
  select session service some static string subscription super switch symmetric system table test then this throw time to trailing true
  try type typeof undefined union unique user using var variadic version void webhook when where while window with worker yield`.split(
    /\s+/,
  ),
);

export interface NewInterface {
  /** Kebab-case. */
  name: string;
  title: string;
  /** The type of its accounts. */
  account: string;
}

interface Forms {
  kebab: string;
  snake: string;
  camel: string;
  pascal: string;
  /** In sentences. */
  words: string;
  account: string;
  path: string;
}

function formsOf(name: string, account: string, path: string): Forms {
  const camel = name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const pascal = camel.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return {
    kebab: name,
    snake: name.replaceAll('-', '_'),
    camel,
    pascal,
    words: name.replaceAll('-', ' '),
    account,
    path,
  };
}

/** What is wrong with the name of a new interface, or true. */
export function checkName(root: string, name: string): string | true {
  const snake = name.replaceAll('-', '_');
  if (interfaceNames.some((known) => known === name))
    return `The ${name} interface exists. To add a version, run pnpm new interface-version ${name} <version>.`;
  if (!/^[a-z]+(?:-[a-z]+)*$/.test(name))
    return `"${name}" is not a name of an interface. Write small letters, and hyphens between words, for example billing-statement.`;
  if (name.length > nameMaxLength)
    return `"${name}" has ${name.length} characters. The name of an interface has at most ${nameMaxLength}, because roles and tables contain it.`;
  const nouns = globSync('apps/operator-cli/src/commands/*.ts', { cwd: root }).map((file) => file.slice(31, -3));
  if (reserved.has(name) || nouns.includes(name) || /^(?:webhook|pg|portal)-/.test(name))
    return `"${name}" is a word of SQL, JavaScript, GraphQL or the operator's commands. Choose another name.`;
  const taken = [
    `apps/${name}-api`,
    `packages/${name}-schema`,
    `packages/store/src/${name}.ts`,
    `packages/actions/src/${name}.ts`,
  ]
    .concat(globSync(`packages/webhook-events/src/${snake}.*`, { cwd: root }))
    .find((path) => existsSync(join(root, path)));
  if (taken !== undefined) return `The name "${name}" is taken by ${taken}. Choose another name.`;
  const tables = globSync('packages/store/migrations/*.sql', { cwd: root }).map((path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  return tables.some((text) => new RegExp(`^create table ${snake} `, 'm').test(text))
    ? `The name "${name}" is taken by the table ${snake}. Choose another name.`
    : true;
}

export function checkTitle(title: string): string | true {
  return /^[A-Z][A-Za-z]*(?: [A-Za-z]+)*$/.test(title) && title.length <= nameMaxLength
    ? true
    : `"${title}" is not a title. Write at most ${nameMaxLength} letters and spaces, the first one a capital, for example "Billing statement".`;
}

/** What is wrong with the type of its accounts, or true. */
export function checkAccount(root: string, account: string, name: string): string | true {
  if (!/^[A-Z][A-Za-z]*$/.test(account) || account.length > nameMaxLength)
    return `"${account}" is not a type. Write at most ${nameMaxLength} letters, the first one a capital, for example VendorAccount.`;
  const { pascal } = formsOf(name, account, '');
  const known = new Set(
    interfaceNames.flatMap((other) => [
      ...definitionsOf(newestSdl(root, other).text).keys(),
      ...interfaces[other].records,
      interfaces[other].accountType,
    ]),
  );
  const isKnown = known.has(account) || ['Boolean', 'Float', 'ID', 'Int', 'String'].includes(account);
  return isKnown || new RegExp(`^Update${pascal}(?:Input|Payload|UserError)`).test(account)
    ? `The type ${account} exists. Choose another one, for example ${pascal}Account.`
    : true;
}

/** The changes that add an interface, in the order in which one reads them. */
export function interfaceChanges(root: string, { name, title, account }: NewInterface): Change[] {
  const readText = (path: string): string => readFileSync(join(root, path), 'utf8');
  const version = new Date().toISOString().slice(0, 10);
  const own = formsOf(name, account, `/${name}s`);
  // The interface with the newest SDL of those that report a change of the account itself, which is copied too.
  const base = interfaceNames
    .filter((other) => existsSync(join(root, `packages/webhook-events/src/${other.replaceAll('-', '_')}.updated`)))
    .toSorted((a, b) => (newestSdl(root, a).date < newestSdl(root, b).date ? 1 : -1))
    .at(0);
  if (base === undefined) throw new Error('No interface has an event <interface>.updated to copy.');
  const from = formsOf(base, interfaces[base].accountType, interfaces[base].path);
  const [schema, app] = [`packages/${name}-schema`, `apps/${name}-api`];
  const data = { ...own, name, title, version };
  const fromTemplate = (path: string, file: string): Change => add(path, template(`interface/${file}`, data));
  const copy = (path: string, change = (copied: string) => copied): Change =>
    addText(renamePath(path, from, own), change(rename(readText(path), from, own)));
  const withDate = (copied: string): string => copied.replaceAll(/\b20\d\d-\d\d-\d\d\b/g, version);

  const event = `${own.snake}.updated`;
  const baseEvent = `${from.snake}.updated`;
  const eventDate = newestOf(JSON.parse(readText(eventVersions))[baseEvent]);
  const migrations = globSync('packages/store/migrations/*.sql', { cwd: root }).map(
    (path) => path.split('/').at(-1) ?? '',
  );
  const last = Number(migrations.toSorted().at(-1)?.slice(0, 4));
  const [growth, rights] = [1, 2].map((step) => String(last + step).padStart(4, '0'));

  const examples = latestExamples(root, base);
  const eventTypes: Record<string, { interfaces: string[] }> = JSON.parse(
    readText('packages/webhook-events/event-types.json'),
  );
  const replaceEvents = (copied: string): string => replaceOwnEvents(copied, base, eventTypes, event);

  return [
    edit('packages/domain/src/interfaces.ts', (list) =>
      list.replace(/(?=\n\} as const satisfies)/, () => {
        const port = Math.max(4004, ...Object.values(interfaces).map((known) => known.port)) + 1;
        const key = name.includes('-') ? `'${name}'` : name;
        return `\n  ${key}: {\n    title: '${title}',\n    accountType: '${account}',\n    path: '${own.path}',\n    port: ${port},\n    adminPort: ${port + 100},\n    records: ['${account}'],\n  },`;
      }),
    ),
    fromTemplate(`${schema}/README.md`, 'README.md'),
    addText(`${schema}/versions/${version}.graphql`, newSdl(root, base, from, own, version, data)),
    addText(`${schema}/versions/${version}.manifest.json`, newManifest(root, base, own)),
    addText(`${schema}/versions.json`, json({ [version]: { ...preview, status: 'current' } })),
    copy(`packages/${base}-schema/package.json`, unreleased),
    copy(`packages/${base}-schema/src/index.ts`),
    copy(`packages/${base}-schema/tsconfig.build.json`),
    ...examples.map((path) =>
      addText(
        `${schema}/examples/${version}/${path.split('/').at(-1)}`,
        replaceEvents(withEventVersion(readText(path), eventTypes, base, version)),
      ),
    ),
    ...ownExamples(own).map(([file, content]) => addText(`${schema}/examples/${version}/${file}`, content)),

    copy(`packages/webhook-events/src/${baseEvent}/${eventDate}.ts`, withDate),
    copy(`packages/webhook-events/fixtures/${baseEvent}/${eventDate}/accept/typical.json`, (copied) =>
      copied.replace(`"version": "${eventDate}"`, `"version": "${version}"`),
    ),
    copy(`packages/webhook-rendering/src/${baseEvent}/${eventDate}.ts`),
    edit(eventVersions, (versions) => withKey(versions, event, { [version]: preview })),
    edit('packages/webhook-events/event-types.json', (types) => {
      const shared = Object.entries(eventTypes).filter(([, { interfaces: of }]) => of.length === interfaceNames.length);
      const extended = shared.reduce(
        (result, [type, { interfaces: of }]) => withKey(result, type, { interfaces: [...of, name] }),
        types,
      );
      return withKey(extended, event, { interfaces: [name] });
    }),
    edit('packages/domain/src/event-snapshots.ts', (snapshots) =>
      snapshots
        .replace(
          /\n\};\n/,
          `\n  '${event}': z.object({ ${own.camel}: z.object({ id: z.string(), name: z.string() }) }),\n};\n`,
        )
        .replace(/(?=\n\} as const satisfies Record<keyof EventSnapshots)/, `\n  '${event}': '${account}',`),
    ),
    edit('packages/domain/src/sample-snapshots.ts', (samples) =>
      samples.replace(
        /\n {2}\};\n\}\n$/,
        `\n    '${event}': {\n      ${own.camel}: { id: formatGid(gidNamespace, '${account}', toRecordId('7')), name: 'Harbour & Sons Lending' },\n    },\n  };\n}\n`,
      ),
    ),

    addText(
      `packages/store/migrations/${growth}-value-of-${name}.sql`,
      `-- In a migration of its own, because a transaction cannot use a value that it adds.\nalter type interface_name add value '${name}';\n`,
    ),
    fromTemplate(`packages/store/migrations/${rights}-${name}.sql`, 'migration.sql'),
    edit('packages/store/migrations/rights.json', (granted) => withRights(granted, own)),
    fromTemplate(`packages/store/src/${name}.ts`, 'store.ts'),
    edit('packages/store/package.json', (manifest) =>
      manifest.replace(
        /(?=\n {4}"\.\/time": \{)/,
        `\n    "./${name}": {\n      "deedwire-source": "./src/${name}.ts",\n      "types": "./dist/${name}.d.ts",\n      "default": "./dist/${name}.js"\n    },`,
      ),
    ),
    fromTemplate(`packages/actions/src/${name}.ts`, 'action.ts'),
    edit(
      'packages/actions/src/index.ts',
      (index) => `${index}export { type ${account}, read${account}, update${own.pascal} } from './${name}.ts';\n`,
    ),
    edit('packages/actions/package.json', (manifest) =>
      manifest.replace(/(?=\n {4}"@deedwire\/store")/, `\n    "@deedwire/${name}-schema": "workspace:^",`),
    ),

    copy(`apps/${base}-api/README.md`),
    copy(`apps/${base}-api/package.json`, unreleased),
    copy(`apps/${base}-api/tsconfig.build.json`),
    ...['config', 'contracts', `${base}-interface`, 'main', 'start'].map((file) =>
      copy(`apps/${base}-api/src/${file}.ts`),
    ),
    fromTemplate(`${app}/src/schema/${name}.ts`, 'schema.ts'),
    fromTemplate(`${app}/src/versions/${version}.ts`, 'version.ts'),

    fromTemplate(`tools/contract-tests/test/${name}-api/${name}-api.test.ts`, 'test.ts'),
    edit('packages/store/test/support/row-fixtures.ts', (fixtures) =>
      fixtures.replace(
        /(?=\n {2}\[\n {4}'api_client',)/,
        `\n  ['${own.snake}', child(['${name}'], \`insert into ${own.snake} (account_id, name) values (\${account}, 'Name')\`)],`,
      ),
    ),
    edit('packages/store/test/migrate.test.ts', (list) =>
      list.replace(/(?=\n\];)/, `\n  '${growth}-value-of-${name}',\n  '${rights}-${name}',`),
    ),
    edit('tools/checks/src/layering.test.ts', (list) => list.replace(/(?=\n {4}'team-members',)/, `\n    '${name}',`)),
    changeset(name, [`${name}-schema`, `${name}-api`, 'webhook-events', 'webhook-worker', 'operator-cli']),
  ];
}

function unreleased(manifest: string): string {
  return manifest.replace(/(?<="version": ")[^"]+/, '0.0.0');
}

/** Puts the forms of the new name where a copied file has those of another interface. */
function rename(copied: string, from: Forms, own: Forms): string {
  const { kebab, snake, camel, pascal, words, account, path } = from;
  return [
    [`${path}/`, `${own.path}/`],
    [`\\b${account}\\b`, own.account],
    [`${pascal}(?=[A-Z])`, own.pascal],
    [`\\b${kebab}(?=-(?:api|schema|interface))`, own.kebab],
    [`\\b${camel}(?=[A-Z])`, own.camel],
    [`(?<=\\{ )${camel}(?= \\})|\\b${camel}(?=\\.(?:id|name)\\b)`, own.camel],
    [`\\b${snake}(?=\\.updated|_api)`, own.snake],
    [`(?<=['"])${kebab}(?=['"])`, own.kebab],
    [`\\b${words}\\b`, own.words],
  ].reduce(
    (text, [pattern = '', replacement = '']) => text.replaceAll(new RegExp(pattern, 'g'), () => replacement),
    copied,
  );
}

function renamePath(path: string, from: Forms, own: Forms): string {
  return path
    .replaceAll(`${from.kebab}-`, `${own.kebab}-`)
    .replace(`${from.snake}.updated`, `${own.snake}.updated`)
    .replace(/\d{4}-\d\d-\d\d(?=[./])/, () => new Date().toISOString().slice(0, 10));
}

function newestSdl(root: string, name: string): { date: string; text: string } {
  const date = newestOf(JSON.parse(readFileSync(join(root, `packages/${name}-schema/versions.json`), 'utf8')));
  return { date, text: readFileSync(join(root, `packages/${name}-schema/versions/${date}.graphql`), 'utf8') };
}

/** The definitions of an SDL with their descriptions, by name, in their order. */
function definitionsOf(sdl: string): Map<string, string> {
  const found = sdl.matchAll(
    /^(?:"""\n[^]*?\n"""\n)?(?:type|interface|input|enum|scalar|union|directive) @?(\w+)[^]*?(?=\n\n|\n*$(?![^]))/gm,
  );
  return new Map(Array.from(found, ([text, name = '']) => [name, text]));
}

/** The fields of a root type with their descriptions, by name, in their order. */
function fieldsOf(definition: string): Map<string, string> {
  const found = definition.matchAll(/^ {2}"""\n[^]*?\n {2}"""\n {2}(\w+)[^]*?\n(?= {2}"""|\})/gm);
  return new Map(Array.from(found, ([text, name = '']) => [name, text]));
}

/** The half about webhooks is what all interfaces have. */
function newSdl(root: string, base: string, from: Forms, own: Forms, version: string, data: object): string {
  const others = interfaceNames.map((name) => definitionsOf(newestSdl(root, name).text));
  const { text } = newestSdl(root, base);
  const kept = Array.from(definitionsOf(text)).flatMap(([name, definition]) => {
    if (!others.every((definitions) => definitions.has(name))) return [];
    if (name !== 'Query' && name !== 'Mutation') return [definition];
    const shared = Array.from(fieldsOf(definition)).flatMap(([field, declared]) =>
      others.every((definitions) => fieldsOf(definitions.get(name) ?? '').has(field)) ? [declared] : [],
    );
    const first =
      name === 'Query'
        ? `  """\n  Your ${own.words} organization.\n  """\n  ${own.camel}: ${own.account}!\n`
        : `  """\n  Changes the name of your organization.\n  """\n  update${own.pascal}(\n    """\n    The change.\n    """\n    input: Update${own.pascal}Input!\n  ): Update${own.pascal}Payload!\n`;
    return [
      `${definition.slice(0, definition.indexOf(`type ${name} {\n`))}type ${name} {\n${first}${shared.join('')}}`,
    ];
  });
  const afterMutation = kept.findIndex((definition) => /^type Mutation /m.test(definition)) + 1;
  const head = `# The ${own.words} interface at version ${version}. This file is the contract and is written by hand.`;
  const ownTypes = readFileSync(join(import.meta.dirname, 'interface/types.graphql.tpl'), 'utf8')
    .replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => String(Reflect.get(data, key)))
    .trim();
  const shared = kept.map((definition) =>
    rename(definition, from, own).replace(
      /(?<=only deliveries of events about )[^]*?(?=The list is empty)/,
      `your organization, whose\n    global identifier this is. `,
    ),
  );
  return `${[head, ...shared.slice(0, afterMutation), ownTypes, ...shared.slice(afterMutation)].join('\n\n')}\n`;
}

/** The limits and the costs that all interfaces have, and those of the first mutation. */
function newManifest(root: string, base: string, own: Forms): string {
  const manifests = interfaceNames.map((name) =>
    JSON.parse(
      readFileSync(join(root, `packages/${name}-schema/versions/${newestSdl(root, name).date}.manifest.json`), 'utf8'),
    ),
  );
  const manifest = manifests[interfaceNames.findIndex((name) => name === base)];
  const additions: Record<string, object> = {
    costWeights: {
      [`Mutation.update${own.pascal}`]: 10,
      [`${own.account}.name`]: 0.18,
      [`Update${own.pascal}UserError.message`]: 1,
    },
    costListSizes: { [`Update${own.pascal}Payload.userErrors`]: 30 },
  };
  for (const part of ['limits', 'costWeights', 'costListSizes', 'costPageMaximums']) {
    const shared = Object.entries(manifest[part]).filter(([key]) => manifests.every((other) => key in other[part]));
    manifest[part] = { ...Object.fromEntries(shared), ...additions[part] };
  }
  return json(manifest);
}

/** The files of the examples that the newest version of an interface has, without those of its own operations. */
function latestExamples(root: string, base: string): string[] {
  const folder = `packages/${base}-schema/examples`;
  const shared = globSync(`packages/${interfaceNames.find((name) => name !== base) ?? base}-schema/examples/*/*`, {
    cwd: root,
  });
  const others = new Set(shared.map((path) => operationOf(path)));
  const files = globSync(`${folder}/*/*`, { cwd: root }).toSorted();
  return files.filter((path) => {
    const newest = files
      .filter((file) => operationOf(file) === operationOf(path))
      .map(dateOf)
      .toSorted()
      .at(-1);
    return others.has(operationOf(path)) && dateOf(path) === newest;
  });
}

function dateOf(path: string): string {
  return path.split('/').at(-2) ?? '';
}

function operationOf(path: string): string {
  return path.split('/').at(-1)?.split('.', 1).join('') ?? '';
}

/** Names the first event of the new interface where an example has an event of the copied one, and an alert where it has a second. */
function replaceOwnEvents(
  copied: string,
  base: string,
  types: Record<string, { interfaces: string[] }>,
  event: string,
): string {
  const ownTypes = Object.keys(types).filter((type) => types[type]?.interfaces.join() === base);
  const found = ownTypes.filter((type) => copied.includes(`"${type}"`));
  return found.reduce(
    (text, type, index) => text.replaceAll(`"${type}"`, index === 0 ? `"${event}"` : '"webhook_subscription.paused"'),
    copied,
  );
}

/** A preview is sent only to those who name its version. */
function withEventVersion(
  copied: string,
  types: Record<string, { interfaces: string[] }>,
  base: string,
  version: string,
): string {
  return copied
    .replaceAll(/(?<=\bpreview\(version: ")[\d-]+/g, version)
    .replaceAll(/"type": "([a-z_.]+)",\n( +)"version": "2026-11-01"/g, (all, type: string, indent: string) =>
      types[type]?.interfaces.join() === base ? `"type": "${type}",\n${indent}"version": "${version}"` : all,
    );
}

function ownExamples({ camel, pascal, account }: Forms): [file: string, content: string][] {
  const shown = { id: `gid://service/${account}/1`, name: 'Harbour Supplies' };
  const refusal = {
    code: 'NAME_INVALID',
    message: 'The name must be 1 to 200 characters and not blank. It has 1 character.',
    field: ['input', 'name'],
  };
  const update = `update${pascal}`;
  return [
    [`${camel}.graphql`, `query Account {\n  ${camel} {\n    id\n    name\n  }\n}\n`],
    [`${camel}.response.json`, json({ data: { [camel]: shown } })],
    [
      `${update}.graphql`,
      `mutation Rename($input: Update${pascal}Input!) {\n  ${update}(input: $input) {\n    ${camel} {\n      id\n      name\n    }\n    userErrors {\n      code\n      message\n      field\n    }\n  }\n}\n`,
    ],
    [`${update}.variables.json`, json({ input: { name: shown.name } })],
    [`${update}.response.json`, json({ data: { [update]: { [camel]: shown, userErrors: [] } } })],
    [`${update}.refused.variables.json`, json({ input: { name: ' ' } })],
    [`${update}.refused.response.json`, json({ data: { [update]: { [camel]: null, userErrors: [refusal] } } })],
  ];
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The role of the interface has what all others have, and what its first migration grants. */
function withRights(text: string, { snake }: Forms): string {
  const rights: Record<string, string[]> = JSON.parse(text);
  const roles = Object.keys(rights).filter((role) => role.endsWith('_api'));
  const shared = (rights[roles[0] ?? ''] ?? []).filter((right) => roles.every((role) => rights[role]?.includes(right)));
  const own = [
    `insert (account_id) on ${snake}`,
    `insert (interface) on ${snake}`,
    `insert (name) on ${snake}`,
    `select on ${snake}`,
    `update (name) on ${snake}`,
  ];
  const { webhook_worker: worker, operator, ...others } = rights;
  const granted = {
    ...others,
    [`${snake}_api`]: inOrder([...shared, ...own]),
    webhook_worker: worker,
    operator,
  };
  return json(granted);
}

/** By object and then by privilege, as the test that compares the file reads them. */
function inOrder(rights: readonly string[]): string[] {
  return rights.toSorted((a, b) => (objectFirst(a) < objectFirst(b) ? -1 : 1));
}

function objectFirst(right: string): string {
  return right.split(' on ').toReversed().join(' \0 ');
}
