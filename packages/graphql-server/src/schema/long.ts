import { GraphQLError, Kind, type ValueNode } from 'graphql';

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
