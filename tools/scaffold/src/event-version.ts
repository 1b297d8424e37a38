import type { Changes } from './changes.ts';
import { addToVersionLists, changeset, editRecordedTypes, paths, readRegistry } from './event-lists.ts';
import { instruction } from './instruction.ts';
import { checkDate, identifierOf } from './names.ts';
import { ScaffoldError } from './scaffold-error.ts';

export interface EventVersionRequest {
  readonly type: string;
  readonly date: string;
  /** `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

/**
 * Plans a new version of an event type, a preview that equals the newest version.
 *
 * @returns a sentence that describes what was planned
 * @throws {ScaffoldError} when the type does not exist, or the date is wrong
 */
export function planEventVersion(changes: Changes, { type, date, today }: EventVersionRequest): string {
  const registry = readRegistry(changes);
  const registered = registry.find((other) => other.type === type);
  const newest = registered?.dates.at(-1);
  if (registered === undefined || newest === undefined) {
    const known = registry.map((other) => other.type).join(', ');
    throw new ScaffoldError(`There is no event type ${JSON.stringify(type)}. The event types are ${known}.`);
  }
  checkDate(date, newest, today);

  changes.create(paths.payload(type, date), nextPayload(changes.read(paths.payload(type, newest)), newest, date));
  const typical = changes.read(paths.typical(type, newest));
  changes.create(paths.typical(type, date), typical.replace(`"version": "${newest}"`, `"version": "${date}"`));
  changes.create(paths.renderer(type, date), nextRenderer(changes.read(paths.renderer(type, newest)), newest));
  addToVersionLists(changes, type, date);
  const identifier = identifierOf(type, date);
  changes.edit(paths.registry, (text) =>
    text.replace(
      new RegExp(String.raw`( type: '${escape(type)}',[\s\S]*?versions: \[[\s\S]*?),?\s*\],\n {2}\},`),
      (_, before: string) => `${before}, preview('${date}', ${identifier})],\n  },`,
    ),
  );
  changes.edit(paths.registryTest, (text) =>
    text.replace(
      new RegExp(String.raw`(\['${escape(type)}', '[^']*', '[^']*)'\]`),
      (_, before: string) => `${before},${date} preview null']`,
    ),
  );
  changes.edit(paths.renderers, (text) =>
    text.replace(
      new RegExp(String.raw`(\n {2}'${escape(type)}': \{[^}]*?),?\s*\},\n`),
      (_, before: string) => `${before}, '${date}': ${identifier}.render },\n`,
    ),
  );
  editRecordedTypes(changes, registered.interfaces, (types) =>
    types.map((listed) =>
      listed.type === type
        ? { ...listed, versions: [...listed.versions, { version: date, status: 'PREVIEW', sunsetOn: null }] }
        : listed,
    ),
  );
  extendRecordedMessages(changes, type, newest, date);
  const differences = `<!-- ${instruction(`what differs from ${newest}, for those who receive it. Then remove this comment.`)} -->`;
  changeset(changes, type, date, `\`${type}\` has a preview of version ${date}.\n\n${differences}`);
  return `Version ${date} of the event type ${type}, a preview that equals ${newest} until you change it.`;
}

function nextPayload(text: string, newest: string, date: string): string {
  const [title = '', imports = '', ...rest] = text.split('\n').filter((line) => !line.startsWith('// Against '));
  return [
    title.replace(newest, date),
    imports,
    `// Against ${newest}: ${instruction('what differs, in one line. Change the fields and the typical.json of this version.')}`,
    ...rest.map((line) => line.replace(`z.literal('${newest}')`, `z.literal('${date}')`)),
  ].join('\n');
}

function nextRenderer(text: string, newest: string): string {
  const line = `  // ${instruction(`what differs from ${newest}. Then remove this line.`)}\n`;
  return text.replace(/^(export function render\([^\n]*\{\n)/m, (head) => `${head}${line}`);
}

/** Recorded refusals list the versions of the type that the client asked for. */
function extendRecordedMessages(changes: Changes, type: string, newest: string, date: string): void {
  const message = new RegExp(String.raw`(\\"${escape(type)}\\" has no version [^.]*\. It has: [^.]*${newest})\.`, 'g');
  for (const path of changes.find('packages/*-schema/examples/*/*.response.json')) {
    if (message.test(changes.read(path))) changes.edit(path, (text) => text.replaceAll(message, `$1, ${date}.`));
    message.lastIndex = 0;
  }
}

function escape(type: string): string {
  return type.replaceAll('.', String.raw`\.`);
}
