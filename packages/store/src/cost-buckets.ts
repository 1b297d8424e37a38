import type { InterfaceName } from '@deedwire/domain';
import { firstRow, type Database } from './database.ts';

export interface CostSettlement {
  /** Points to add to the bucket. Negative: points that the process has spent in advance. */
  change: number;
  /** The points that the waiting charges need. */
  needed: number;
  /** The smallest useful grant: nothing is granted below it. */
  least: number;
  /** The points that the process wants to hold beyond `needed`. At most half of the rest is granted. */
  spare: number;
  /**
   * The time since the last settlement of this bucket by this process, by its monotonic clock. The bucket cannot regain
   * points for a longer time.
   */
  elapsedSeconds: number;
}

export interface CostSettlementRow {
  /** A whole number. */
  granted: number;
  /** The points that are left in the bucket. */
  points: number;
  /** The processes of the client's interface that were seen within 30 seconds. At least 1. */
  processes: number;
}

/**
 * Settles a bucket: restores it, adds the returned points and grants points to the process. The bucket regains the points
 * of the time since its last settlement by the clock of the server, but no longer than the process has measured, so that a
 * step of that clock creates no points. Debts beyond the size of the bucket are dropped. Served by api_client_client_id_key
 * and cost_bucket_pkey.
 *
 * @returns null if the client does not exist
 */
export async function settleCostBucket(
  database: Database,
  clientId: string,
  { change, needed, least, spare, elapsedSeconds }: CostSettlement,
): Promise<CostSettlementRow | null> {
  const statement = {
    name: 'settle-cost-bucket',
    text: `
      with locked as (
        select b.api_client_id, b.points, b.settled_at, c.cost_maximum as maximum, c.cost_restore_rate as rate
        from cost_bucket b
        join api_client c on c.id = b.api_client_id
        where c.client_id = $1
        for no key update of b
      ), timed as materialized (
        -- Read after the lock was acquired.
        select *, clock_timestamp() as at from locked
      ), restored as (
        select api_client_id, at,
          least(maximum, greatest(-maximum,
            points + rate * least($6::float8, greatest(0, extract(epoch from at - settled_at)::float8)) + $2::float8
          )) as points
        from timed
      ), granted as (
        select *,
          case when points < $4::float8 then 0
            else floor(least(points, $3::float8 + least($5::float8, greatest(0, points - $3::float8) / 2))) end as granted
        from restored
      )
      update cost_bucket b
      set points = g.points - greatest(0, g.granted), settled_at = g.at
      from granted g
      where b.api_client_id = g.api_client_id
      returning greatest(0, g.granted) as granted, b.points,
        (
          select greatest(1, count(*))::int
          from cost_process p
          where p.interface = b.interface and p.seen_at >= clock_timestamp() - interval '30 seconds'
        ) as processes`,
  };
  const values = [clientId, change, needed, least, spare, elapsedSeconds];
  return firstRow(await database.query<CostSettlementRow>(statement, values));
}

/**
 * Records that a process runs, and removes processes that have not been seen for 30 seconds. The statement reads the whole
 * table, which has one row for each process.
 */
export async function registerCostProcess(database: Database, id: string, interfaceName: InterfaceName): Promise<void> {
  const statement = {
    name: 'register-cost-process',
    text: `
      with ended as (
        delete from cost_process
        where interface = $2 and id <> $1 and seen_at < clock_timestamp() - interval '30 seconds'
      )
      insert into cost_process (id, interface, seen_at) values ($1, $2, clock_timestamp())
      on conflict (id) do update set seen_at = excluded.seen_at`,
  };
  await database.query(statement, [id, interfaceName]);
}

/** Removes a process that ends. Served by cost_process_pkey. */
export async function removeCostProcess(database: Database, id: string): Promise<void> {
  const statement = { name: 'remove-cost-process', text: 'delete from cost_process where id = $1' };
  await database.query(statement, [id]);
}
