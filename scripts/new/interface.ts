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
import {
  json,
  latestExamples,
  newestSdl,
  newManifest,
  newSdl,
  ownExamples,
  replaceOwnEvents,
  withEventVersion,
} from './interface/contract.ts';
import { type Forms, formsOf, rename, renamePath } from './interface/forms.ts';

export interface NewInterface {
  /** Kebab-case. */
  name: string;
  title: string;
  /** The type of its accounts. */
  account: string;
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
      copied
        .replace(`"version": "${eventDate}"`, `"version": "${version}"`)
        .replace(/(?<="name": ").*(?=")/, 'Harbour Supplies'),
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
        `\n    '${event}': {\n      ${own.camel}: { id: formatGid(gidNamespace, '${account}', toRecordId('7')), name: 'Harbour Supplies' },\n    },\n  };\n}\n`,
      ),
    ),
    edit('packages/domain/src/personal-data.test.ts', (list) =>
      list.replace(/(?=\n\]\);)/, `\n  '${own.camel}.id',\n  '${own.camel}.name',`),
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
        /(?=\n {2}\/\/ The trigger of portal_session)/,
        `\n  fixture(['${name}'], \`insert into ${own.snake} (account_id, name) values (\${account}, 'Name')\`, true),`,
      ),
    ),
    edit('tools/contract-tests/test/personal-columns.test.ts', (list) =>
      list.replace(/(?=\n {2}'webhook_event\.request_id',)/, `\n  '${own.snake}.name',`),
    ),
    edit('docs/threats.md', (page) => page.replace(/(?=`webhook_event\.account_id`)/, `\`${own.snake}.account_id\`, `)),
    edit('tools/checks/src/layering.test.ts', (list) => list.replace(/(?=\n {4}'team-members',)/, `\n    '${name}',`)),
    changeset(name, [`${name}-schema`, `${name}-api`, 'webhook-events', 'webhook-worker', 'operator-cli']),
  ];
}

function unreleased(manifest: string): string {
  return manifest.replace(/(?<="version": ")[^"]+/, '0.0.0');
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
