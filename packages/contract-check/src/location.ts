/** A place in a contract file. */
export interface Location {
  /** The file name that the caller passed. */
  readonly file: string;
  /** Counted from 1. Null for the file as a whole. */
  readonly line: number | null;
}

/** Finds the elements of a contract file. */
export interface Locator {
  readonly file: string;
  /** The line of an element, counted from 1. Null if the contract does not have the element. */
  lineOf(coordinate: string): number | null;
  /** The coordinate of the element around an element. Null if the element is at the top. */
  parentOf(coordinate: string): string | null;
}

/** The places of an element in the old and the new contract. */
export function locate(
  coordinate: string,
  from: Locator,
  to: Locator,
): { readonly location: Location; readonly oldLocation: Location | null } {
  const oldLine = from.lineOf(coordinate);
  return {
    location: closest(to, coordinate),
    oldLocation: oldLine === null ? null : { file: from.file, line: oldLine },
  };
}

function closest(locator: Locator, coordinate: string): Location {
  for (let at: string | null = coordinate; at !== null; at = locator.parentOf(at)) {
    const line = locator.lineOf(at);
    if (line !== null) return { file: locator.file, line };
  }
  return { file: locator.file, line: null };
}
