import { requiredPaths, type Service } from '@deedwire/core';
import type { Client } from 'pg';
import { GidNamespaceMismatchError, ServiceConflictError } from '../kernel/errors.ts';
import { onlyRow } from '../statements/database.ts';
import { type DescribedService, describeService } from './describe-service.ts';

/** What a service has changed of what the database knows of its events. */
export interface ChangedEvents {
  /** The types that the database did not know. */
  addedEvents: string[];
  /** The members of snapshots that it no longer requires: the service appends snapshots without them. */
  optionalMembers: { type: string; members: string[] }[];
}

/**
 * Writes what the database must know of a service. Only adds, so that an application of an earlier release continues.
 *
 * @throws {GidNamespaceMismatchError} if the global identifiers of the database have another namespace
 * @throws {ServiceConflictError} if the database knows another service by these names
 */
export async function registerService(client: Client, service: Service, gidNamespace: string): Promise<ChangedEvents> {
  const described = describeService(service);
  await refuseConflicts(client, described);
  await refuseOtherKeys(client, service);
  await registerNamespace(client, gidNamespace);
  await registerVersions(client, service, described);
  const required = new Map(service.events.map((event) => [event.type, requiredPaths(event)]));
  const events = described.events.map((event) => ({ ...event, required: required.get(event.type) ?? [] }));
  const changed = await compareEvents(client, events);
  // A member is required as long as all releases append it. A type of record that is known stays.
  await client.query(
    `insert into event_type as e (type, interfaces, record_type, required, persons, addresses, of_platform)
     select s.type, array(select i.name from interface i where i.name::text = any (s.interfaces) order by i.name), s.record_type,
       s.required, s.persons, s.addresses, s.of_platform
     from jsonb_to_recordset($1::jsonb)
       as s (type text, interfaces text[], record_type text, required text[], persons text[], addresses text[], of_platform boolean)
     on conflict (type) do update set
       interfaces = array(select unnest(e.interfaces) union select unnest(excluded.interfaces) order by 1),
       record_type = coalesce(e.record_type, excluded.record_type),
       required = array(select unnest(e.required) intersect select unnest(excluded.required) order by 1),
       persons = array(select unnest(e.persons) union select unnest(excluded.persons) order by 1),
       addresses = array(select unnest(e.addresses) union select unnest(excluded.addresses) order by 1),
       of_platform = excluded.of_platform`,
    [JSON.stringify(events)],
  );
  await client.query(
    `insert into person_table as p (relation, record_type, columns, addresses, known_by)
     select * from jsonb_to_recordset($1::jsonb)
       as s (relation text, record_type text, columns text[], addresses text[], known_by text[])
     on conflict (relation) do update set
       columns = array(select unnest(p.columns) union select unnest(excluded.columns) order by 1),
       addresses = array(select unnest(p.addresses) union select unnest(excluded.addresses) order by 1),
       known_by = array(select unnest(p.known_by) union select unnest(excluded.known_by) order by 1)`,
    [JSON.stringify(described.persons)],
  );
  await client.query(
    `insert into audit_action as a (action, of_operators, removes)
     select * from jsonb_to_recordset($1::jsonb) as s (action text, of_operators boolean, removes boolean)
     on conflict (action) do update set
       of_operators = a.of_operators and excluded.of_operators,
       removes = a.removes or excluded.removes`,
    [JSON.stringify(described.actions)],
  );
  return changed;
}

async function compareEvents(
  client: Client,
  events: readonly { type: string; required: readonly string[] }[],
): Promise<ChangedEvents> {
  const { rows } = await client.query<{ type: string; required: string[] }>('select type, required from event_type');
  const known = new Map(rows.map(({ type, required }) => [type, required]));
  return {
    addedEvents: events.map(({ type }) => type).filter((type) => !known.has(type)),
    optionalMembers: events
      .map(({ type, required }) => ({
        type,
        members: (known.get(type) ?? []).filter((member) => !required.includes(member)),
      }))
      .filter(({ members }) => members.length > 0),
  };
}

/** What is published later stays: a release that is deployed again does not take it back. */
async function registerVersions(client: Client, { names }: Service, { interfaces }: DescribedService): Promise<void> {
  await client.query('update installation set api_key_prefix = $1 where api_key_prefix is null', [names.apiKeyPrefix]);
  await client.query(
    `update interface i
     set client_version = s.client_version
     from jsonb_to_recordset($1::jsonb) as s (name text, client_version text)
     where i.name::text = s.name and s.client_version > coalesce(i.client_version, '') collate "C"`,
    [JSON.stringify(interfaces)],
  );
}

/** The first one stays: others have stored identifiers that begin with it. */
async function registerNamespace(client: Client, gidNamespace: string): Promise<void> {
  await client.query('update installation set gid_namespace = $1 where gid_namespace is null', [gidNamespace]);
  const { rows } = await client.query<{ own: string }>('select gid_namespace as own from installation');
  const { own } = onlyRow(rows);
  if (own !== gidNamespace) throw new GidNamespaceMismatchError(own, gidNamespace);
}

/** No process would accept the API keys that clients have. Without one, the prefix can change. */
async function refuseOtherKeys(client: Client, { names }: Service): Promise<void> {
  const { rows } = await client.query<{ own: string; isUsed: boolean }>(
    `select api_key_prefix as own, exists (select from api_key) as "isUsed" from installation where api_key_prefix <> $1`,
    [names.apiKeyPrefix],
  );
  const [other] = rows;
  if (other === undefined) return;
  if (other.isUsed)
    throw new ServiceConflictError(
      [`its API keys begin with ${names.apiKeyPrefix}_, and those of the database with ${other.own}_`],
      `Clients have such keys, which nothing would accept: set \`apiKeyPrefix\` to ${other.own}.`,
    );
  await client.query('update installation set api_key_prefix = $1', [names.apiKeyPrefix]);
}

async function refuseConflicts(client: Client, { interfaces, events, persons }: DescribedService): Promise<void> {
  const { rows } = await client.query<{ conflict: string }>(
    `select format('the interface %s has accounts of the type %s, and in the database of %s', i.name, s.account_type, i.account_type) as conflict
     from jsonb_to_recordset($3::jsonb) as s (name text, account_type text)
     join interface i on i.name::text = s.name
     where i.account_type <> s.account_type
     union all
     select format('the event %s is about the record %s, and in the database about %s', e.type, s.record_type, e.record_type)
     from jsonb_to_recordset($1::jsonb) as s (type text, record_type text)
     join event_type e using (type)
     where e.record_type <> s.record_type
     union all
     select format('the table %s has persons of the record %s, and in the database of %s', p.relation, s.record_type, p.record_type)
     from jsonb_to_recordset($2::jsonb) as s (relation text, record_type text)
     join person_table p using (relation)
     where p.record_type <> s.record_type
     union all
     select format('the persons of the record %s are in events of the interface %s, and in the database of %s', m.record_type,
       string_agg(distinct i.name, ', ') filter (where i.is_said), string_agg(distinct i.name, ', ') filter (where not i.is_said))
     from (
       -- As the events will be registered.
       select coalesce(e.record_type, s.record_type) as record_type, s.interfaces, e.interfaces::text[] as known_interfaces
       from jsonb_to_recordset($1::jsonb) as s (type text, interfaces text[], record_type text, persons text[])
       full join event_type e using (type)
       where s.persons <> '{}' or e.persons <> '{}'
     ) m
     cross join lateral (
       select unnest(m.interfaces), true union all select unnest(m.known_interfaces), false
     ) as i (name, is_said)
     group by m.record_type
     having count(distinct i.name) > 1 and bool_or(i.is_said)
     order by 1`,
    [JSON.stringify(events), JSON.stringify(persons), JSON.stringify(interfaces)],
  );
  if (rows.length > 0) throw new ServiceConflictError(rows.map(({ conflict }) => conflict));
}
