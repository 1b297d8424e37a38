// What identifies a person in events, for `deedwire-operator person erase`. Its test has the columns of records.
// A further type of record also belongs in `erase-person.ts` of `actions`, and in a migration that replaces person_addresses(),
// person_row(), begin_person_erasure(), read_person_event() and is_of_erased_person().

import type { InterfaceName } from './interfaces.ts';
import type { RecordId } from './record-id.ts';

/** The types of the records that identify a person. */
export type PersonRecordType = 'Referral' | 'TeamMember';

/** The interface whose accounts have records of a type. An event of another interface does not report them. */
export const interfaceOfPerson: Readonly<Record<PersonRecordType, InterfaceName>> = {
  Referral: 'partner',
  TeamMember: 'lender',
};

const ofMember = ['teamMember.firstName', 'teamMember.lastName', 'teamMember.email'];

/** The events that identify the person of their record, and the values of their snapshots that do, by their paths. */
export const personEvents: ReadonlyMap<string, { recordType: PersonRecordType; paths: readonly string[] }> = new Map([
  ['referral.converted', { recordType: 'Referral', paths: ['referral.externalReference'] }],
  ['referral.created', { recordType: 'Referral', paths: ['referral.externalReference'] }],
  ['referral.declined', { recordType: 'Referral', paths: ['referral.externalReference', 'reason'] }],
  ['team_member.added', { recordType: 'TeamMember', paths: ofMember }],
  ['team_member.removed', { recordType: 'TeamMember', paths: ofMember }],
  ['team_member.updated', { recordType: 'TeamMember', paths: ofMember }],
]);

/** What replaces a text that identifies. Valid, and unique for each record. */
export function placeholderOf(id: RecordId<PersonRecordType>, kind: 'address' | 'text'): string {
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
