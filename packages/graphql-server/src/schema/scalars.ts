import { GraphQLError, Kind, type ValueNode } from 'graphql';

const dateTime = /^\d{4}-\d\d-(\d\d)T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * The value of an argument of the type `DateTime`: RFC 3339, with any offset. Fractions of a millisecond are cut off, and a leap second
 * counts as the second after it.
 *
 * @throws {GraphQLError} for any other value, and for a day that does not exist
 */
export function parseDateTime(value: unknown): Date {
  const [, day] = (typeof value === 'string' && dateTime.exec(value)) || [];
  if (typeof value === 'string' && day !== undefined) {
    const isLeap = value.slice(17, 19) === '60';
    // JavaScript understands capital letters only, and no leap second.
    const written = isLeap ? `${value.slice(0, 17)}59${value.slice(19)}` : value;
    const time = new Date(Date.parse(written.toUpperCase()) + (isLeap ? 1_000 : 0));
    // JavaScript takes February 30 as March 2.
    const isReal = new Date(`${value.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(day);
    // A leap second is the last one of a day in UTC.
    const isPossible = !isLeap || time.getTime() % 86_400_000 < 1_000;
    if (isReal && isPossible && !Number.isNaN(time.getTime())) return time;
  }
  const found =
    typeof value === 'string'
      ? JSON.stringify(value.slice(0, 60))
      : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
  throw new GraphQLError(
    `A DateTime is an RFC 3339 string with an offset, for example "2026-11-01T09:30:00.000Z"; found ${found}.`,
  );
}

/** The value of an argument of the type `Long`. Larger integers would arrive as other ones: JSON numbers are doubles here. */
export function parseLong(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw notLong(typeof value === 'number' || typeof value === 'string' ? JSON.stringify(value) : typeof value);
}

export function parseLongLiteral(node: ValueNode): number {
  if (node.kind === Kind.INT) return parseLong(Number(node.value));
  throw notLong(node.kind === Kind.FLOAT ? node.value : node.kind);
}

/** @throws {RangeError} for a number that is not exact */
export function formatLong(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`${value} is not a Long.`);
}

function notLong(found: string): GraphQLError {
  return new GraphQLError(
    `A Long is an integer from -9007199254740991 to 9007199254740991; found ${found.slice(0, 60)}.`,
  );
}
