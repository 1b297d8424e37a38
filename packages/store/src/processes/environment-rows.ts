import { ofService, portalClientPattern, type Service } from '@deedwire/core';

const accountTypes = ofService(({ interfaces }) =>
  Object.entries(interfaces)
    .map(([name, { account }]) => `when '${name}' then '${account}'`)
    .join(' '),
);

const accountGid = (service: Service, table: string) =>
  `'gid://' || $1 || '/' || case ${table}.interface::text ${accountTypes(service)} end || '/' || ${table}.account_id`;

/**
 * Clients that pin a version, and subscriptions and listeners that pin an event, `type@version`. $1 is the namespace of global
 * identifiers.
 */
export const pins = (service: Service): string => `
  select 'gid://' || $1 || case s.kind when 'LISTENER' then '/WebhookListener/' else '/WebhookSubscription/' end || s.id as id,
    ${accountGid(service, 's')} as account, s.interface, t.event_type || '@' || t.event_version as event, null as version
  from webhook_subscription s
  join webhook_subscription_event_type t on t.subscription_id = s.id
  where s.deleted_at is null
  union all
  select c.client_id, ${accountGid(service, 'c')}, c.interface, null, c.schema_version
  from api_client c
  where c.client_id !~ '${portalClientPattern(service)}'`;

/** How often a client used a version, or a coordinate of it. The coordinate is null for the version itself. */
export const uses = (service: Service): string => `
  select c.client_id as client, ${accountGid(service, 'c')} as account, c.interface, u.version, nullif(u.coordinate, '') as coordinate,
    "firstDay", "lastDay", u.count
  from (
    select api_client_id, version, coordinate, min(day) as "firstDay", max(day) as "lastDay", sum(count)::bigint as count
    from interface_use
    group by api_client_id, version, coordinate
  ) u
  join api_client c on c.id = u.api_client_id`;

/** A process stores its counts every minute. One whose time is in the future did not run on since the clock was set back. */
const isCounting = `state = 'OPEN' and recorded_at between now() - interval '150 seconds' and now() + interval '1 second'`;

/**
 * The periods in which use may be lost: after the last counts of a process that was killed or could not store them, in an overflow,
 * and while no process of an app counted.
 */
const gaps = `
  select app, "from", until, reason
  from (
    select app, case when counted_until > now() then now() - interval '1 minute' else counted_until end as "from",
      case state when 'LOST' then seen_at else least(seen_at + interval '1 minute', now()) end as until,
      case state when 'LOST' then 'counts were not stored' else 'a process ended without storing its counts' end as reason
    from use_counting
    where state = 'LOST' or state = 'OPEN' and not (${isCounting})
    union all
    select app, counted_from, counted_until, 'too many keys to count' from use_counting where state = 'OVERFLOWED'
    union all
    select app, lower(hole), upper(hole), 'no process counted'
    from (
      select app, tstzrange(min(counted_from), greatest(min(counted_from), now()))::tstzmultirange - range_agg(
        tstzrange(counted_from, case when ${isCounting} then greatest(counted_until, now()) else counted_until end)
      ) as holes
      from use_counting
      group by app
    ) c
    cross join unnest(holes) as hole
  ) g
  where until > "from"`;

/** Whether a text that an app wrote has no character that ends a line, moves a cursor or separates a type and its version. */
export const isName = (column: string): string => `${column} ~ '^[!-?A-~]+$'`;

interface ExportedList {
  name: string;
  /** Has the columns `app` and `row`, which is JSON. */
  rows: string;
  isValid: string;
  /** Of an app. With two interfaces, the whole file is less than the 64 MiB that `contract-check` reads. */
  maxBytes: number;
}

/** What apps make longer. Rows that are invalid or above the limit are left out, and make only their app unknown. */
export const exportedLists = ofService((service): readonly ExportedList[] => [
  {
    name: 'pins',
    rows: `
      select interface || '-api' as app, event, version,
        json_build_object('id', id, 'account', account, 'interface', interface, 'event', event, 'version', version) as row
      from (${pins(service)}) p`,
    isValid: `case when event is null then ${isName('version')} else event ~ '^[!-?A-~]+@[!-?A-~]+$' end`,
    maxBytes: 5_000_000,
  },
  {
    name: 'uses',
    rows: `
      select interface || '-api' as app, version, coordinate,
        json_build_object('client', client, 'account', account, 'interface', interface, 'version', version,
          'coordinate', coordinate, 'firstDay', "firstDay", 'lastDay', "lastDay", 'count', count) as row
      from (${uses(service)}) u`,
    isValid: `${isName('version')} and (coordinate is null or ${isName('coordinate')})`,
    maxBytes: 7_000_000,
  },
  {
    name: 'counting',
    rows: `
      select app, json_build_object('app', app, 'instance', process_id, 'from', counted_from, 'until', counted_until,
        'overflowed', state = 'OVERFLOWED', 'coordinates', coalesce(coordinates_id::text, '')) as row
      from use_counting`,
    isValid: 'true',
    maxBytes: 3_500_000,
  },
  {
    name: 'gaps',
    rows: `select app, json_build_object('app', app, 'from', "from", 'until', until, 'reason', reason) as row from (${gaps}) g`,
    isValid: 'true',
    maxBytes: 2_500_000,
  },
]);

/** The rows of a list, and whether each is exported. */
export function exportedRows({ name, rows, isValid, maxBytes }: ExportedList): string {
  return `
      ${name} as materialized (
        select app, row, is_valid, is_valid and sum(octet_length(row)) filter (where is_valid)
          over (partition by app order by row rows unbounded preceding) <= ${maxBytes} as is_exported
        from (select app, row::text collate "C" as row, ${isValid} as is_valid from (${rows}) r offset 0) l
      )`;
}
