import { sql } from '../statements/database.ts';

/** The only channel. A notification means that there is work; the tables contain the work itself. */
export const wakeChannel = 'deedwire_wake';

/** Notifies `wakeChannel` once for each payload of $1. */
export const notifyStatement = sql(
  'notify',
)`select pg_notify('${wakeChannel}', payload) from unnest($1::text[]) payload`;

export const reconnectMaxMs = 5_000;
