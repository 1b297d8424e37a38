import { UnknownVersionError } from './unknown-version-error.ts';

/** What operations cost, as in the manifest. Coordinates are of the form `Type.field`. */
export interface OperationCosts {
  /**
   * Points by coordinate, for each value that the field returns. A field without a weight costs 1 if it returns objects,
   * otherwise 0.03.
   */
  readonly weights: Readonly<Record<string, number>>;
  /** By coordinate: the largest number of items that a list of objects or a connection returns. */
  readonly listSizes: Readonly<Record<string, number>>;
  /** By coordinate: the most points that all values of a field cost together in a page, whatever their number. */
  readonly pageMaximums: Readonly<Record<string, number>>;
  /** The list size of a connection that has none in `listSizes`. */
  readonly pageSizeMaximum: number;
}

const costsByVersion: ReadonlyMap<string, OperationCosts> = new Map<string, OperationCosts>([
  // VERSIONS
]);

/**
 * What the operations of a version cost.
 *
 * @throws {UnknownVersionError} when the interface has no such version
 */
export function costs(version: string): OperationCosts {
  const found = costsByVersion.get(version);
  if (found === undefined) throw new UnknownVersionError(version, [...costsByVersion.keys()]);
  return found;
}
