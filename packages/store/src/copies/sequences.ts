import { type Database, sql } from '../statements/database.ts';

export interface SequenceState {
  name: string;
  /** The last number that was drawn. 0 if none was. */
  lastNumber: string;
  /** The highest number that rows contain. 0 if there are none. */
  highestUsed: string;
  /** The sequence will draw numbers that rows contain already, or lower ones. */
  isBehind: boolean;
}

/**
 * Reads the sequences whose numbers must not repeat. A copy of the rows of a database does not copy its sequences. Served by
 * webhook_subscription_by_queue_position, webhook_event_queue_pkey, matter_pkey and audit_entry_pkey.
 */
export async function selectSequences(database: Database): Promise<SequenceState[]> {
  const statement = sql('select-sequences')`
      select sequence as name, last_number::text as "lastNumber", highest_used::text as "highestUsed",
        last_number < highest_used as "isBehind"
      from sequence_states()
      order by sequence`;
  return database.query<SequenceState & { [column: string]: unknown }>(statement, []);
}

export interface AdvancedSequence {
  name: string;
  /** The last number that had been drawn. */
  before: string;
  /** The number after which the sequence continues. */
  after: string;
}

/**
 * Advances each sequence that is behind, and moves the entries of the queue that have its numbers after those of all
 * subscriptions. Waits for transactions that have drawn a number.
 *
 * @throws {Error} if the queue is behind and a worker is running
 */
export async function advanceSequences(database: Database): Promise<AdvancedSequence[]> {
  const statement = sql('advance-sequences')`
      select sequence as name, before::text, after::text
      from advance_sequences()
      order by sequence`;
  return database.query<AdvancedSequence & { [column: string]: unknown }>(statement, []);
}

/**
 * Draws numbers of a sequence, so that the next one is beyond `number`. Drawing is all that a group role may do with the sequence, and it
 * needs no lock. Numbers that were drawn stay used after a rollback.
 *
 * @returns null if the last number is not below `number`
 */
export async function drawNumbers(
  database: Database,
  sequence: string,
  number: string,
): Promise<AdvancedSequence | null> {
  const statement = sql('draw-numbers')`
      select sequence as name, last_number::text as before, (
        select max(nextval($2::text::regclass)) from generate_series(last_number + 1, $1::bigint)
      )::text as after
      from sequence_states()
      where sequence = $2 and last_number < $1::bigint`;
  const [advanced] = await database.query<AdvancedSequence & { [column: string]: unknown }>(statement, [
    number,
    sequence,
  ]);
  return advanced ?? null;
}
