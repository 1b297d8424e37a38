/**
 * The costs of the fields of one schema version, as published by its manifest. Coordinates are of the form `Type.field`.
 */
export interface OperationCosts {
  /** Points of each returned value. Defaults to 1 for an object and to 0.03 for a scalar, an enum value or a list of them. */
  readonly weights: Readonly<Record<string, number>>;
  /** The number of items that a list of objects or a connection can return. A connection defaults to `pageSizeMaximum`. */
  readonly listSizes: Readonly<Record<string, number>>;
  /** The most points that the values of a text cost together in a page of a connection, whatever their number. */
  readonly pageMaximums?: Readonly<Record<string, number>>;
  /** The maximum of the argument `first`. */
  readonly pageSizeMaximum: number;
}

/** A thousandth of a point: the unit of all sums, so that they are exact. It pays for a byte of the response. */
export type MilliPoints = number;

export const defaultWeights = { object: 1, leaf: 0.03 } as const;

export function toMilliPoints(points: number): MilliPoints {
  return Math.round(points * 1000);
}

/** The price of an operation: whole points, at least 1. */
export function toPoints(sum: MilliPoints): number {
  return Math.max(1, Math.ceil(sum / 1000));
}

/** A weight covers a field under its own name. The value of an alias can be as long again, and its name longer. */
export function costOfAlias(alias: string, fieldName: string): MilliPoints {
  return toMilliPoints(defaultWeights.leaf) + Math.max(0, alias.length - fieldName.length);
}

/** What a text of a weighted field costs: its characters and as much as a field without a weight, but at most the weight. */
export function costOfText(text: string, weight: MilliPoints): MilliPoints {
  return Math.min(weight, toMilliPoints(defaultWeights.leaf) + text.length);
}

/** Whether a text has more bytes in JSON than characters: it contains others than those of ASCII, or JSON escapes some. */
const hasLongCharacters = /[^ -~]|["\\]/;

/** What the bytes of a text cost beyond `costOfText`. 0 if each of its characters has one byte in JSON. */
export function costOfLongCharacters(text: string, weight: MilliPoints): MilliPoints {
  if (!hasLongCharacters.test(text)) return 0;
  const bytes = Buffer.byteLength(JSON.stringify(text)) - 2;
  return Math.max(0, toMilliPoints(defaultWeights.leaf) + bytes - costOfText(text, weight));
}
