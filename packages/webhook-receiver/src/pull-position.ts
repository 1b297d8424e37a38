import type { PageStart } from './pull-source.ts';
import type { GivenUpEvent } from './pulling.ts';

/** Where to continue. */
export interface Place extends PageStart {
  /** The sequence before the first event of the page. Null if the page starts where no event was read before. */
  readonly base: number | null;
}

/** An event that has to be tried again. It is found on the page that starts at its place. */
export interface Held extends GivenUpEvent {
  readonly place: Place;
  readonly attempts: number;
  /** In milliseconds since 1970. */
  readonly dueMs: number;
  /** The time between the last attempt and `dueMs`. */
  readonly delayMs: number;
}

/** How far a subscription was read. */
export interface Progress {
  /** Null before the first page. */
  readonly place: Place | null;
  /** The highest sequence that was read. It is on the page of the place. */
  readonly sequence: number;
}

/** What a store keeps for a subscription. */
export interface Position extends Progress {
  readonly held: readonly Held[];
  /** Of all runs. The latest 100. */
  readonly givenUp: readonly GivenUpEvent[];
  /** A run of `reprocess` that has not ended. */
  readonly reprocess: (Progress & { readonly since: string; readonly until: number | null }) | null;
}

const first: Position = { place: null, sequence: 0, held: [], givenUp: [], reprocess: null };

/** @throws {SyntaxError} if something else has written the text */
export function parsePosition(text: string | null): Position {
  return text === null ? first : { ...first, ...JSON.parse(text) };
}

/** All events up to it are passed. */
export function watermarkOf({ sequence, held }: Position): number {
  return Math.min(sequence, ...held.map((each) => each.sequence - 1));
}

const firstDelayMs = 10_000;
const delayMaxMs = 6 * 3_600_000;

/** @param attempts that failed, from 1 */
export function delayAfter(attempts: number): number {
  return Math.min(firstDelayMs * 2 ** (attempts - 1), delayMaxMs);
}

/** A clock that was set back does not prolong the delay. */
export function isDue({ dueMs, delayMs }: Held, nowMs: number): boolean {
  return nowMs >= dueMs || nowMs < dueMs - delayMs;
}
