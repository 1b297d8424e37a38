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
  /** The last attempt has begun. It stays if the process ends meanwhile. */
  readonly isBegun?: boolean;
}

/** How far a subscription was read. */
export interface Progress {
  /** Null before the first page. */
  readonly place: Place | null;
  /** The highest sequence that was read. It is on the page of the place. */
  readonly sequence: number;
}

/** A run as far as it has come. */
export interface RunState extends Progress {
  /** The handlers of events up to this sequence may have begun. Null between runs: it stays if the process ends during a run. */
  readonly begunTo: number | null;
}

/** What a store keeps for a subscription. */
export interface Position extends RunState {
  /** The delivery with this sequence. Null if there is none, or if it was not read. */
  readonly lastId: string | null;
  readonly held: readonly Held[];
  /** Of all runs. The latest 100. */
  readonly givenUp: readonly GivenUpEvent[];
  /** A run of `reprocess` that has not ended. */
  readonly reprocess: Reprocessing | null;
}

export interface Reprocessing extends RunState {
  readonly since: string;
  readonly until: number | null;
  /** An event whose handler has begun alone. Null if it has ended. */
  readonly begun: number | null;
}

const first: Position = {
  place: null,
  sequence: 0,
  begunTo: null,
  lastId: null,
  held: [],
  givenUp: [],
  reprocess: null,
};

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

/** @param attempts that failed, from 1. Otherwise there is no delay. */
export function delayAfter(attempts: number): number {
  return attempts < 1 ? 0 : Math.min(firstDelayMs * 2 ** (attempts - 1), delayMaxMs);
}

/** The clocks of two processes that take turns differ by less. */
const clockSkewMs = 15 * 60_000;

/** A clock that was set back by hours does not prolong the delay. */
export function isDue({ dueMs, delayMs }: Held, nowMs: number): boolean {
  return nowMs >= dueMs || nowMs < dueMs - delayMs - clockSkewMs;
}
