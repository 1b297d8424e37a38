import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceNames } from '../../../packages/domain/src/interfaces.ts';
import { newestOf } from '../changes.ts';
import { type Forms, rename } from './forms.ts';

export function newestSdl(root: string, name: string): { date: string; text: string } {
  const date = newestOf(JSON.parse(readFileSync(join(root, `packages/${name}-schema/versions.json`), 'utf8')));
  return { date, text: readFileSync(join(root, `packages/${name}-schema/versions/${date}.graphql`), 'utf8') };
}

/** The definitions of an SDL with their descriptions, by name, in their order. */
export function definitionsOf(sdl: string): Map<string, string> {
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
export function newSdl(root: string, base: string, from: Forms, own: Forms, version: string, data: object): string {
  const others = interfaceNames.map((name) => definitionsOf(newestSdl(root, name).text));
  const { text } = newestSdl(root, base);
  const copied = (definition: string): string =>
    rename(definition, from, own).replace(
      /(?<=only deliveries of events about )[^]*?(?=The list is empty)/,
      'the record with this global identifier. ',
    );
  const kept = Array.from(definitionsOf(text)).flatMap(([name, definition]) => {
    if (!others.every((definitions) => definitions.has(name))) return [];
    if (name !== 'Query' && name !== 'Mutation') return [copied(definition)];
    const shared = Array.from(fieldsOf(definition)).flatMap(([field, declared]) =>
      others.every((definitions) => fieldsOf(definitions.get(name) ?? '').has(field)) ? [declared] : [],
    );
    const first =
      name === 'Query'
        ? `  """\n  Your ${own.words} organization.\n  """\n  ${own.camel}: ${own.account}!\n`
        : `  """\n  Changes the name of your organization.\n  """\n  update${own.pascal}(\n    """\n    The change.\n    """\n    input: Update${own.pascal}Input!\n  ): Update${own.pascal}Payload!\n`;
    const before = definition.slice(0, definition.indexOf(`type ${name} {\n`));
    return [`${copied(before)}type ${name} {\n${first}${copied(shared.join(''))}}`];
  });
  const afterMutation = kept.findIndex((definition) => /^type Mutation /m.test(definition)) + 1;
  const head = `# The ${own.words} interface at version ${version}. This file is the contract and is written by hand.`;
  const ownTypes = readFileSync(join(import.meta.dirname, 'types.graphql.tpl'), 'utf8')
    .replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => String(Reflect.get(data, key)))
    .trim();
  return `${[head, ...kept.slice(0, afterMutation), ownTypes, ...kept.slice(afterMutation)].join('\n\n')}\n`;
}

/** The limits and the costs that all interfaces have, and those of the first mutation. */
export function newManifest(root: string, base: string, own: Forms): string {
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
export function latestExamples(root: string, base: string): string[] {
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
export function replaceOwnEvents(
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
export function withEventVersion(
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

export function ownExamples({ camel, pascal, account }: Forms): [file: string, content: string][] {
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

export function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
