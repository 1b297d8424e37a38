// A further type of record also belongs in `tables` of the service, and in a migration that replaces person_addresses(),
// person_row(), begin_person_erasure(), read_person_event() and is_of_erased_person().

import { type InterfaceName, ofService } from './interfaces.ts';
import type { RecordId } from './record-id.ts';
import type { PersonTable, Service } from './service.ts';

/** An event that identifies the person of its record. */
export interface PersonEvent {
  readonly recordType: string;
  /** The interface whose accounts have such records. An event of another interface does not report them. */
  readonly interfaceName: InterfaceName;
}

/** By their types. */
export const personEventsOf = ofService(
  ({ events, persons: tables }): ReadonlyMap<string, PersonEvent> =>
    new Map(
      events.flatMap(({ type, record, persons, interfaces: [interfaceName] }): [string, PersonEvent][] =>
        persons.length > 0 && interfaceName !== undefined && tables.some((table) => table.record === record)
          ? [[type, { recordType: record ?? '', interfaceName }]]
          : [],
      ),
    ),
);

/** @throws {TypeError} if the service has no table of such records */
export function personTableOf({ persons }: Service, record: string): PersonTable {
  const found = persons.find((table) => table.record === record);
  if (found === undefined) throw new TypeError(`The service has no table of persons for a ${record}.`);
  return found;
}

/** @throws {TypeError} if no event of the service identifies such a person */
export function interfaceOfPerson(service: Service, type: string): InterfaceName {
  const found = [...personEventsOf(service).values()].find(({ recordType }) => recordType === type);
  if (found === undefined) throw new TypeError(`No event of the service identifies the person of a ${type}.`);
  return found.interfaceName;
}

/** What replaces a text that identifies. Valid, and unique for each record. */
export function placeholderOf(id: RecordId<string>, kind: 'address' | 'text'): string {
  return kind === 'text' ? `erased-${id}` : `erased-${id}@erased.invalid`;
}

/** The same for addresses that differ in case only, in how Unicode spells a character, or in how ASCII spells a domain (`xn--`). */
export function addressKey(address: string): string {
  const lower = address.normalize('NFKC').toLowerCase().normalize('NFKC');
  // The lower case of "Σ" depends on what follows. In a domain, "ς" is another letter.
  const key = lower.replaceAll(/ς(?=.*@)/g, 'σ');
  // What is no part of a host name stays: a URL would end before it, or decode it.
  return key.replace(/(?<![^@/?#:%\\])[^@/?#:%\\]+$/, (domain) =>
    /[^ -~]/.test(domain) ? (URL.parse(`http://${domain}`)?.hostname ?? domain) : domain,
  );
}
