import { payloadMaxBytes, type RenderData, type RenderedEvent } from '@deedwire/core';
import { call, requireSession, type Session } from './session.ts';

/**
 * Appends an event in the transaction of the application: it is delivered if, and only if, the transaction commits.
 *
 * @param account the id by which the application has created the account, or its global identifier
 * @returns the id of the event, the number at the end of the `id` of its payloads
 * @throws {NotInTransactionError} if the event would be committed at once
 * @throws {SnapshotRefusedError} if the schema of the event refuses the snapshot, or one of its payloads cannot be delivered
 * @throws the error of the driver, with the SQLSTATE of append_event(): DW001 an unknown event, DW002 an unknown account, DW005 a record
 * that the type cannot have
 */
export async function append<Snapshot extends object>(
  session: Session,
  event: RenderedEvent<Snapshot>,
  account: string,
  snapshot: NoInfer<Snapshot>,
): Promise<string> {
  requireSession(session);
  if (Object(event).snapshot === undefined) throw new TypeError('Pass the event that defineEvent() has returned.');
  const { type } = event;
  const parsed = parseSnapshot(event, snapshot);
  const text = encodeSnapshot(event, parsed);
  const record = readRecord(event, parsed);
  await session.requireTransaction();
  return call(session, 'append_event', {
    type: { value: type },
    account: { value: account },
    snapshot: { type: 'json', value: text },
    record: { value: record },
  });
}

/**
 * What is stored of a snapshot. For code of the platform, which inserts events itself.
 *
 * @throws {SnapshotRefusedError} if the schema of the event refuses it, or one of its payloads cannot be delivered
 */
export function storedSnapshot<Snapshot extends object>(
  event: RenderedEvent<Snapshot>,
  snapshot: NoInfer<Snapshot>,
): Snapshot {
  const parsed = parseSnapshot(event, snapshot);
  encodeSnapshot(event, parsed);
  return parsed;
}

/** A snapshot of which a payload cannot be delivered. The message contains paths, and no values. */
export class SnapshotRefusedError extends Error {
  readonly code = 'SNAPSHOT_REFUSED';
  override readonly name = 'SnapshotRefusedError';

  constructor(type: string, reason: string, cause?: unknown) {
    super(`The snapshot of ${type} is refused: ${reason}.`, { cause });
  }
}

function parseSnapshot<Snapshot extends object>(event: RenderedEvent<Snapshot>, snapshot: Snapshot): Snapshot {
  const { data, error } = event.snapshot.safeParse(snapshot);
  if (error === undefined) return data;
  const issues = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new SnapshotRefusedError(event.type, issues.join('; '), error);
}

function encodeSnapshot(event: Pick<RenderedEvent, 'payloads' | 'renderers' | 'type'>, snapshot: object): string {
  const { type, renderers, payloads = {} } = event;
  const text = JSON.stringify(snapshot);
  if (unstorable.test(text))
    throw new SnapshotRefusedError(type, 'a text has the character U+0000 or half of a surrogate pair');
  for (const [version, render] of Object.entries(renderers))
    checkPayload({ type, version, render, schema: payloads[version] }, text);
  return text;
}

/** The id of the record. It is found in the snapshot at run time: without it, the deliveries of the record could not be found. */
function readRecord<Snapshot extends object>(
  { type, record }: Pick<RenderedEvent<Snapshot>, 'record' | 'type'>,
  snapshot: Snapshot,
): string | null {
  if (record === null) return null;
  let id: unknown;
  try {
    id = record.id(snapshot);
  } catch (cause) {
    throw new SnapshotRefusedError(type, `the id of its ${record.type} cannot be read`, cause);
  }
  if (typeof id === 'string' && id !== '') return id;
  throw new SnapshotRefusedError(type, `the id of its ${record.type} is no text`);
}

/** What `JSON.stringify` writes of characters that PostgreSQL does not store. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Those of the longest namespace and the largest number. */
const longestEnvelope = {
  id: `gid://${'n'.repeat(63)}/WebhookEvent/${2n ** 63n - 1n}`,
  timestamp: new Date(0).toISOString(),
};

interface CheckedVersion {
  readonly type: string;
  readonly version: string;
  readonly render: RenderData<never>;
  readonly schema: Required<RenderedEvent>['payloads'][string] | undefined;
}

/** Renders as the worker does, which reads what was stored. */
function checkPayload({ type, version, render, schema }: CheckedVersion, text: string): void {
  let data: object;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a snapshot of the event
    data = render(JSON.parse(text) as never);
  } catch (cause) {
    throw new SnapshotRefusedError(type, `its version ${version} cannot be rendered`, cause);
  }
  const issues = schema?.safeParse(data).error?.issues ?? [];
  if (issues.length > 0) {
    const paths = issues.map(({ path, code }) => `${['data', ...path].join('.')}: ${code}`);
    throw new SnapshotRefusedError(
      type,
      `the payload of its version ${version} would not match its published schema: ${paths.join('; ')}`,
    );
  }
  const bytes = Buffer.byteLength(JSON.stringify({ ...longestEnvelope, type, version, data }));
  if (bytes > payloadMaxBytes)
    throw new SnapshotRefusedError(
      type,
      `the payload of its version ${version} would have ${bytes} bytes; at most ${payloadMaxBytes} are delivered`,
    );
}
