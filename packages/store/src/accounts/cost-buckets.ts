import { firstRow, type Database, sql } from '../statements/database.ts';

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
  const statement = sql('settle-cost-bucket')`
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
      returning greatest(0, g.granted) as granted, b.points`;
  const values = [clientId, change, needed, least, spare, elapsedSeconds];
  return firstRow(await database.query<CostSettlementRow>(statement, values));
}
