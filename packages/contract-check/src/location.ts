/** A place in a contract file. */
export interface Location {
  /** The file name that the caller passed. */
  readonly file: string;
  /** Counted from 1. Null for the file as a whole. */
  readonly line: number | null;
}

/** Finds the elements of a contract. */
export interface Locator {
  /** The file of the contract, or the first of several. */
  readonly file: string;
  /** Null if the contract does not have the element. */
  locationOf(coordinate: string): Location | null;
  /** The coordinate of the element around an element. Null if the element is at the top. */
  parentOf(coordinate: string): string | null;
}

/** The places of an element in the old and the new contract. */
export function locate(
  coordinate: string,
  from: Locator,
  to: Locator,
): { readonly location: Location; readonly oldLocation: Location | null } {
  return { location: closest(to, coordinate), oldLocation: from.locationOf(coordinate) };
}

/** The place of an element. Null if it has no line, because the contract does not have it. */
export function locationAt(file: string, line: number | null): Location | null {
  return line === null ? null : { file, line };
}

function closest(locator: Locator, coordinate: string): Location {
  for (let at: string | null = coordinate; at !== null; at = locator.parentOf(at)) {
    const found = locator.locationOf(at);
    if (found !== null) return found;
  }
  return { file: locator.file, line: null };
}
