import type { Event, Service } from '@deedwire/core';
import { openSchemaOf, type PayloadField, payloadFields } from '@deedwire/core/payload-fields';

/** A field that two versions of a payload have differently. */
export interface PayloadChange {
  /** For example `data.order.id`. */
  readonly path: string;
  /** What each version says of it, in words. Null: the version does not have it. */
  readonly before: string | null;
  readonly after: string | null;
}

/** What each version of a payload changes against each earlier one, by `<type> <from> <to>`. Without versions that have ended. */
export function payloadChanges({ events }: Service): Record<string, PayloadChange[]> {
  const pairs = events.flatMap(({ type, versions }) => {
    const served = versions.filter(({ status }) => status !== 'retired');
    return served.flatMap((from, index) => served.slice(index + 1).map((to) => ({ type, from, to })));
  });
  return Object.fromEntries(
    pairs.map(({ type, from, to }) => [`${type} ${from.version} ${to.version}`, changesBetween(from, to)]),
  );
}

type Version = Event['versions'][number];

function changesBetween(from: Version, to: Version): PayloadChange[] {
  const [old, now] = [wordsOf(from.data), wordsOf(to.data)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
    .filter(({ before, after }) => before !== after);
}

/** Each field in words, by its path. */
function wordsOf(data: Version['data']): Map<string, string> {
  const fields = payloadFields(openSchemaOf(data), undefined, 'data');
  return new Map(fields.map((field) => [field.path, inWords(field)]));
}

function inWords({ type, isNullable, isOptional }: PayloadField): string {
  return [type.replaceAll('`', ''), ...(isNullable ? ['can be null'] : []), ...(isOptional ? ['optional'] : [])].join(
    ', ',
  );
}
