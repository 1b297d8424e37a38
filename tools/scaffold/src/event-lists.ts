import type { Changes } from './changes.ts';
import { insertEntry, insertImport } from './insert-entry.ts';
import { identifierOf } from './names.ts';
import { ScaffoldError } from './scaffold-error.ts';

// The lists that contain each version of each event type, except the list of types itself.

const events = 'packages/webhook-events';
const rendering = 'apps/webhook-worker/src/rendering';

export const paths = {
  registry: `${events}/src/event-types.ts`,
  registryTest: `${events}/src/event-types.test.ts`,
  parserTest: `${events}/src/parse-webhook-body.test.ts`,
  renderers: `${rendering}/renderers.ts`,
  payload: (type: string, date: string) => `${events}/src/${type}/${date}.ts`,
  typical: (type: string, date: string) => `${events}/fixtures/${type}/${date}/accept/typical.json`,
  renderer: (type: string, date: string) => `${rendering}/${type}/${date}.ts`,
  changeset: (type: string, date: string) => `.changeset/${type.replaceAll(/[._]/g, '-')}-${date}.md`,
};

export interface RegisteredType {
  readonly type: string;
  readonly interfaces: readonly string[];
  /** Oldest first. */
  readonly dates: readonly string[];
}

/** Reads the registry as text, so that it works while the rest of the tree does not compile. */
export function readRegistry(changes: Changes): RegisteredType[] {
  const entries = changes
    .read(paths.registry)
    .matchAll(/ type: '([^']+)',[\s\S]*?interfaces: \[([^\]]*)\],\s*versions: \[([\s\S]*?)\],\n {2}\},/g);
  const types = Array.from(entries, ([, type = '', interfaces = '', versions = '']) => ({
    type,
    interfaces: Array.from(interfaces.matchAll(/'(\w+)'/g), ([, name = '']) => name),
    dates: Array.from(versions.matchAll(/\w+\('(\d{4}-\d\d-\d\d)', /g), ([, date = '']) => date),
  }));
  if (types.length === 0)
    throw new ScaffoldError(`${paths.registry} does not have the form that this command can read.`);
  return types;
}

/** Adds what every new version of an event type needs, and no type itself. */
export function addToVersionLists(changes: Changes, type: string, date: string): void {
  const identifier = identifierOf(type, date);
  changes.edit(paths.registry, (text) =>
    insertImport(text, `import { body as ${identifier} } from './${type}/${date}.ts';`),
  );
  changes.edit(paths.parserTest, (text) =>
    insertEntry(
      insertImport(text, `import type { body as ${identifier} } from './${type}/${date}.ts';`),
      { start: 'z.infer<\n', end: '    >\n', entry: /^ {6}\| typeof (\w+)$/gm },
      identifier,
      `      | typeof ${identifier}\n`,
    ),
  );
  changes.edit(paths.renderers, (text) => insertImport(text, `import * as ${identifier} from './${type}/${date}.ts';`));
}

interface RecordedTypes {
  data: { webhookEventTypes: RecordedType[] };
}

export interface RecordedType {
  type: string;
  description: string;
  versions: { version: string; status: string; sunsetOn: string | null }[];
}

/** Changes the recorded responses of `webhookEventTypes` of these interfaces. */
export function editRecordedTypes(
  changes: Changes,
  interfaces: readonly string[],
  edit: (types: RecordedType[]) => RecordedType[],
): void {
  for (const name of interfaces) {
    for (const path of changes.find(`packages/${name}-schema/examples/*/webhookEventTypes.response.json`)) {
      changes.edit(path, (text) => {
        const { data }: RecordedTypes = JSON.parse(text);
        return `${JSON.stringify({ data: { webhookEventTypes: edit(data.webhookEventTypes) } }, null, 2)}\n`;
      });
    }
  }
}

export function changeset(changes: Changes, type: string, date: string, sentence: string): void {
  const packages = ['@deedwire/webhook-events', '@deedwire/webhook-worker'];
  const bumps = packages.map((name) => `'${name}': minor\n`).join('');
  changes.create(paths.changeset(type, date), `---\n${bumps}---\n\n${sentence}\n`);
}
