import { type Database, sql } from '../statements/database.ts';

/** The records of a type that identify persons. */
export interface PersonRecords {
  type: string;
  interfaceName: string;
  /** The type of the accounts of the interface, in global identifiers. */
  accountType: string;
  /** Those that exist. */
  tables: string[];
}

/** An event that identifies the person of its record. */
export interface PersonEventType {
  type: string;
  recordType: string;
  /** Whose accounts have such records. An event of another interface does not report them. */
  interfaceNames: string[];
  hasAddress: boolean;
}

/** What identifies persons, as all releases of the service have registered it. */
export interface PersonRegistry {
  /** By their types, in their order. */
  records: ReadonlyMap<string, PersonRecords>;
  /** By their types. */
  events: ReadonlyMap<string, PersonEventType>;
  /** The actions of the audit log that remove the record that they are about. */
  removals: string[];
}

export async function selectPersonRegistry(database: Database): Promise<PersonRegistry> {
  const ofRecords = sql('select-person-records')`
      select r.type, i.name::text as "interfaceName", i.account_type as "accountType", array(
          select p.relation
          from person_table p
          join own_table o using (relation)
          where p.record_type = r.type and to_regclass(quote_ident(p.relation)) is not null
          order by p.relation
        ) as tables
      from (
        select p.record_type, o.of_interface from person_table p join own_table o using (relation)
        union
        select e.record_type, unnest(e.interfaces) from event_type e where e.persons <> '{}'
      ) r (type, interface)
      join interface i on i.name = r.interface
      order by r.type`;
  const ofEvents = sql('select-person-events')`
      select type, record_type as "recordType", interfaces::text[] as "interfaceNames", addresses <> '{}' as "hasAddress"
      from event_type
      where persons <> '{}'`;
  const ofRemovals = sql('select-removals')`select action from audit_action where removes`;
  const records = await database.query<PersonRecords & Record<string, unknown>>(ofRecords, []);
  const events = await database.query<PersonEventType & Record<string, unknown>>(ofEvents, []);
  const removals = await database.query<{ action: string }>(ofRemovals, []);
  return {
    removals: removals.map(({ action }) => action),
    records: new Map(records.map((each) => [each.type, each])),
    events: new Map(events.map((each) => [each.type, each])),
  };
}
