import { toRecordId, type RecordId, type RecordTypeName } from './record-id.ts';

// The parts of an id, as new_record_id() of packages/store/migrations makes it.
const epochMs = Date.UTC(2026, 0, 1);
const lastMs = epochMs + 2 ** 41 - 1;
const bitsBelowTime = 22n;

/**
 * The smallest id of a millisecond. Ids drawn before it are smaller: the ids drawn from `a` until before `b` are those of
 * `idAt(a) <= id < idAt(b)`. Compare ids as `bigint`, not as text.
 *
 * @throws {RangeError} if ids cannot name the time: they reach from the second millisecond of 2026 to 2095-09-07 (UTC)
 */
export function idAt<TypeName extends RecordTypeName>(time: Date): RecordId<TypeName> {
  const ms = time.getTime();
  if (!(ms > epochMs && ms <= lastMs)) throw new RangeError(`No record id names the time ${String(time)}.`);
  return toRecordId((BigInt(ms - epochMs) << bitsBelowTime).toString());
}

/** As `idAt`. Returns the first or the last id that names a time if no id names this one. */
export function nearestIdAt<TypeName extends RecordTypeName>(time: Date): RecordId<TypeName> {
  return idAt(new Date(Math.min(Math.max(time.getTime(), epochMs + 1), lastMs)));
}

/** When an id was drawn, to the millisecond, by the clock of the database server. */
export function timeOf(id: RecordId<RecordTypeName>): Date {
  return new Date(epochMs + Number(BigInt(id) >> bitsBelowTime));
}
