import type { EventDefinition } from './event.ts';
import { type GidContext, parseGid, parseRecordGid } from './gid.ts';
import { accountTypesOf, ofService } from './interfaces.ts';
import { parseRecordId, type RecordId } from './record-id.ts';
import { hashRecordKey, readRecordKey } from './record-key.ts';

/** How columns name the record of an event. */
export interface EventRecordId {
  /** The id, if `new_record_id()` drew it. Otherwise the hash of `key`. */
  readonly id: RecordId<string>;
  /** The id in the application. Null if `new_record_id()` drew it: then no event about the record is older than its time. */
  readonly key: string | null;
}

const keyedTypes = ofService(
  (service) =>
    new Set(
      service.events.flatMap(({ record }) =>
        record === null ||
        accountTypesOf(service).includes(record.type) ||
        service.persons.some((table) => table.record === record.type)
          ? []
          : [record.type],
      ),
    ),
);

/**
 * Whether events are about records of a type whose ids the application gives. `new_record_id()` draws those of accounts, and of records of
 * tables with `persons`.
 */
export function hasKeys({ service }: Pick<GidContext, 'service'>, typeName: string): boolean {
  return keyedTypes(service).has(typeName);
}

/**
 * Reads the global identifier or the id of a record that events can be about. A text that begins with `gid://` is never an id.
 *
 * @returns null if no record of the type can have it
 */
export function readEventRecord(context: GidContext, typeName: string, text: string): EventRecordId | null {
  const isGid = text.startsWith('gid://');
  if (hasKeys(context, typeName)) {
    const key = isGid ? parseRecordGid(context.gidNamespace, typeName, text) : readRecordKey(text);
    return key === null ? null : { id: hashRecordKey(key), key };
  }
  const id = isGid ? parseGid<string>(context.gidNamespace, typeName, text) : parseRecordId(text);
  return id === null ? null : { id, key: null };
}

/** Whether a text is the global identifier of a record of a type that events can be about. */
export function isRecordGid(context: GidContext, typeName: string, text: string): boolean {
  return text.startsWith('gid://') && readEventRecord(context, typeName, text) !== null;
}

/**
 * The record that an event with a snapshot is about. Null if it is about none.
 *
 * @throws {TypeError} if the definition returns no id of its type
 */
export function recordOfSnapshot(
  context: GidContext,
  { type, record }: Pick<EventDefinition, 'record' | 'type'>,
  snapshot: object,
): EventRecordId | null {
  if (record === null) return null;
  const text: unknown = record.id(snapshot);
  const found = typeof text === 'string' ? readEventRecord(context, record.type, text) : null;
  if (found !== null) return found;
  const wanted = hasKeys(context, record.type) ? 'a text of 1 to 200 bytes' : 'a number that new_record_id() has drawn';
  throw new TypeError(
    `The event ${type} is about the ${record.type} ${JSON.stringify(text)}, which must be ${wanted}, or the global identifier of one.`,
  );
}
