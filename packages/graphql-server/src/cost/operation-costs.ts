/**
 * The costs of the fields of one schema version, as published by its manifest. Coordinates are of the form `Type.field`.
 */
export interface OperationCosts {
  /** Points of each returned value. Defaults to 1 for an object and to 0.03 for a scalar, an enum value or a list of them. */
  readonly weights: Readonly<Record<string, number>>;
  /** The number of items that a list of objects or a connection can return. A connection defaults to `pageSizeMaximum`. */
  readonly listSizes: Readonly<Record<string, number>>;
  /** The maximum of the argument `first`. */
  readonly pageSizeMaximum: number;
}

/**
 * A thousandth of a point: the unit of all sums, so that they are exact. A point pays for 1,000 bytes of the response. An
 * object also pays for its short fields and up to 30 aliases of them, so a short field has a small weight.
 */
export type MilliPoints = number;

export const defaultWeights = { object: 1, leaf: 0.03 } as const;

/** A weight covers the response name up to this length. Each further character costs a thousandth of a point. */
const coveredNameCharacters = 32;

export function toMilliPoints(points: number): MilliPoints {
  return Math.round(points * 1000);
}

/** The price of an operation: whole points, at least 1. */
export function toPoints(sum: MilliPoints): number {
  return Math.max(1, Math.ceil(sum / 1000));
}

export function costOfName(responseName: string): MilliPoints {
  return Math.max(0, responseName.length - coveredNameCharacters);
}
