import { type Database, onlyRow } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';
import type { Shard } from '../../kernel/shard.ts';

export interface WorkerLease {
  readonly id: WorkerId;
  readonly isLeaving: boolean;
  /** Negative once the lease has expired. */
  readonly expiresInMs: number;
  /** The lease ends later than a renewal now would make it end: the clock of the database was set back. */
  readonly isAhead: boolean;
}

export interface Membership {
  /** Workers that were not declared dead. */
  readonly workers: readonly WorkerLease[];
  /** All shards. `owner` is null while a shard is free. It may be a worker that was declared dead. */
  readonly shards: readonly { readonly shard: Shard; readonly owner: WorkerId | null }[];
}

/** Reads both tables completely: one row for each process, and 64 shards. */
export async function selectMembership(database: Database): Promise<Membership> {
  const statement = {
    name: 'select-membership',
    text: `
      select
        coalesce((
          select json_agg(json_build_object(
            'id', id::text,
            'isLeaving', leaving,
            'expiresInMs', ceil(date_part('epoch', leased_until - clock_timestamp()) * 1000),
            'isAhead', coalesce(leased_until > clock_timestamp() + lease_ms * interval '1 ms' + interval '1 second', false)
          ))
          from webhook_worker
          where alive
        ), '[]') as workers,
        (select json_agg(json_build_object('shard', shard, 'owner', worker_id::text) order by shard) from webhook_shard) as shards`,
  };
  return onlyRow(await database.query<Membership & { [column: string]: unknown }>(statement, []));
}
