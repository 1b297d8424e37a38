import type { Changes } from './changes.ts';
import { addToVersionLists, changeset, editRecordedTypes, paths, readRegistry } from './event-lists.ts';
import { insertEntry } from './insert-entry.ts';
import { instruction } from './instruction.ts';
import { checkDate, identifierOf, parseEventName, titleOf, type EventName } from './names.ts';
import { ScaffoldError } from './scaffold-error.ts';

export interface EventTypeRequest {
  /** For example `invoice.paid`. */
  readonly type: string;
  /** The date of its first version. */
  readonly date: string;
  /** Undefined: those of the other events about the same noun, or both, to be confirmed. */
  readonly interfaces: readonly string[] | undefined;
  /** Undefined: derived from the name. */
  readonly description: string | undefined;
  /** `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

/**
 * Plans a new event type with one version, a preview.
 *
 * @returns a sentence that describes what was planned
 * @throws {ScaffoldError} when the name, the date or the description is wrong, or the name is taken
 */
export function planEventType(changes: Changes, request: EventTypeRequest): string {
  const { type, date } = request;
  const name = parseEventName(type);
  checkDate(date, null, request.today);
  const registry = readRegistry(changes);
  const taken = registry.find((other) => other.type === type || titleOf(other.type) === name.title);
  if (taken !== undefined)
    throw new ScaffoldError(
      taken.type === type
        ? `The event type ${type} exists. To add a version: pnpm new event-version ${type} <date>.`
        : `${type} and ${taken.type} have the same TypeScript name, ${name.title}. Choose another name.`,
    );
  const description = request.description ?? describe(name);
  if (!/^[A-Z][^.'\\\n]+\.$/.test(description))
    throw new ScaffoldError('The description has to be one sentence that ends with a period, without quotation marks.');
  const related = registry.find((other) => other.type.split('.')[0] === type.split('.')[0]);
  const interfaces = request.interfaces ?? related?.interfaces ?? ['lender', 'partner'];
  const isConfirmed = request.interfaces !== undefined || related !== undefined;

  changes.create(paths.payload(type, date), payload(name, date));
  changes.create(paths.typical(type, date), typicalBody(name, date));
  changes.create(paths.renderer(type, date), renderer(name));
  addToVersionLists(changes, type, date);
  const identifier = identifierOf(type, date);
  changes.edit(paths.registry, (text) =>
    insertEntry(
      text,
      { start: '/** Every event type, ordered by name. */', end: '];\n', entry: /^ {2}\{\n {4}type: '([^']+)'/gm },
      type,
      `  {
    type: '${type}',
    description: '${description}',
${isConfirmed ? '' : `    // ${instruction('keep the interfaces whose clients may see this event. Then remove this line.')}\n`}    interfaces: [${interfaces.map((interfaceName) => `'${interfaceName}'`).join(', ')}],
    versions: [preview('${date}', ${identifier})],
  },
`,
    ),
  );
  changes.edit(paths.registryTest, (text) =>
    insertEntry(
      text,
      { start: ').toEqual([\n', end: '    ]);', entry: /^ {6}\['([^']+)', '/gm },
      type,
      `      ['${type}', '${interfaces.join()}', '${date} preview null'],\n`,
    ),
  );
  const bySnapshot = { end: '}', entry: /^ {2}'([^']+)': /gm };
  changes.edit('packages/domain/src/event-snapshots.ts', (text) =>
    insertEntry(
      text,
      { ...bySnapshot, start: 'export interface EventSnapshots {\n', end: '\n}' },
      type,
      `  // ${instruction('all that any version of the payload may need. Snapshots are stored. Then remove this line.')}
  '${type}': { ${name.field}: { id: string } };
`,
    ),
  );
  changes.edit(paths.renderers, (text) =>
    insertEntry(
      text,
      { ...bySnapshot, start: 'export const renderers: Renderers = {\n', end: '\n};' },
      type,
      `  '${type}': { '${date}': ${identifier}.render },\n`,
    ),
  );
  changes.edit('apps/webhook-worker/src/rendering/renderer.test.ts', (text) =>
    insertEntry(
      text,
      { ...bySnapshot, start: 'const snapshots: EventSnapshots = {\n', end: '\n};' },
      type,
      `  '${type}': { ${name.field}: { id: 'gid://service/${name.recordType}/7' } },\n`,
    ),
  );
  const versions = [{ version: date, status: 'PREVIEW', sunsetOn: null }];
  editRecordedTypes(changes, interfaces, (types) =>
    // The registry is ordered by name.
    [...types, { type, description, versions }].toSorted((one, other) => (one.type < other.type ? -1 : 1)),
  );
  changeset(changes, type, date, `The new event type \`${type}\` is available as a preview: ${description}`);
  return `The event type ${type} at ${date}, a preview for the ${interfaces.join(' and the ')} interface. ${description}`;
}

function describe({ noun, past }: EventName): string {
  return `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} was ${past}.`;
}

function payload({ type, noun, field, recordType, title }: EventName, date: string): string {
  return `// The contract of \`${type}\` at ${date}, written by hand.
// Import only zod, so that no other change affects the contract.
import { z } from 'zod';

const gid = (typeName: string) => z.string().regex(new RegExp(\`^gid://[a-z][a-z0-9-]*/\${typeName}/[1-9][0-9]*$\`));
const time = z.iso.datetime({ precision: 3 });

export const body = z
  .object({
    id: gid('WebhookEvent').describe(
      "The event's global identifier, the same for every subscription. To detect repeated deliveries, compare the \`webhook-id\` header instead.",
    ),
    type: z.literal('${type}').describe('The event type.'),
    version: z.literal('${date}').describe('The version of this payload.'),
    timestamp: time.describe('When the event happened, as an RFC 3339 timestamp in UTC with milliseconds.'),
    data: z
      .object({
        // ${instruction('the fields, each with a description. Write typical values in the typical.json of this version. Then remove this line.')}
        ${field}Id: gid('${recordType}').describe("The ${noun}'s global identifier."),
      })
      .describe('The event data.'),
  })
  .meta({ title: '${title}' });
`;
}

function typicalBody({ type, field, recordType }: EventName, date: string): string {
  const data = { [`${field}Id`]: `gid://service/${recordType}/4711` };
  const body = {
    id: 'gid://service/WebhookEvent/123456',
    type,
    version: date,
    timestamp: '2026-11-03T09:30:00.123Z',
    data,
  };
  return `${JSON.stringify(body, null, 2)}\n`;
}

// Not in the text below, where it would look like an import of this package.
const domainPackage = '@deedwire/domain';

function renderer({ type, field }: EventName): string {
  return `import type { EventSnapshots } from '${domainPackage}';

export function render(snapshot: EventSnapshots['${type}']) {
  // ${instruction('every field of the payload, from the snapshot. Then remove this line.')}
  return { ${field}Id: snapshot.${field}.id };
}
`;
}
