/** The deadlines of all attempts in flight. */
export interface AttemptTimeouts {
  /** Calls `onExpire` when `timeoutMs` have passed since `startMs` (`performance.now()`), never earlier. */
  start(startMs: number, timeoutMs: number, onExpire: () => void): Deadline;
}

export interface Deadline {
  /** Whether the time has passed. A process that was stopped finds that before the timer calls `onExpire`. */
  readonly hasPassed: boolean;
  /** Has no effect on a deadline that has expired or is canceled. */
  cancel(): void;
}

/**
 * One timer serves all deadlines of a duration, because a timer per attempt is slow and almost always canceled. A list is in the order
 * in which its deadlines expire, and its timer waits for the first one. A list stays for each duration that was ever used: use few.
 */
export function createAttemptTimeouts(): AttemptTimeouts {
  const lists = new Map<number, DeadlineList>();
  function listOf(timeoutMs: number): DeadlineList {
    const list = lists.get(timeoutMs) ?? new DeadlineList(timeoutMs);
    lists.set(timeoutMs, list);
    return list;
  }
  return {
    start(startMs, timeoutMs, onExpire) {
      const list = listOf(timeoutMs);
      return list.append(new Entry(list, startMs + timeoutMs, onExpire));
    },
  };
}

/**
 * How many deadlines expire without letting other work of the process run. Requests that start together expire together: a
 * thousand receivers that hang would delay everything else by 100 ms.
 */
const expiredMax = 8;

class Entry implements Deadline {
  readonly list: DeadlineList;
  readonly expiresAtMs: number;
  readonly onExpire: () => void;
  previous: Entry | null = null;
  next: Entry | null = null;
  listed = false;

  constructor(list: DeadlineList, expiresAtMs: number, onExpire: () => void) {
    this.list = list;
    this.expiresAtMs = expiresAtMs;
    this.onExpire = onExpire;
  }

  get hasPassed(): boolean {
    return performance.now() >= this.expiresAtMs;
  }

  cancel(): void {
    this.list.remove(this);
  }
}

class DeadlineList {
  first: Entry | null = null;
  last: Entry | null = null;
  /** Null before the first deadline and after the timer has found no deadline. It may wait for a canceled deadline. */
  timer: NodeJS.Timeout | null = null;
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  append(entry: Entry): Entry {
    entry.listed = true;
    entry.previous = this.last;
    if (this.last === null) this.first = entry;
    else this.last.next = entry;
    this.last = entry;
    if (this.timer === null) this.wait(this.timeoutMs);
    else if (this.first === entry) this.timer.ref();
    return entry;
  }

  remove(entry: Entry): void {
    if (!entry.listed) return;
    entry.listed = false;
    if (entry.previous === null) this.first = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === null) this.last = entry.previous;
    else entry.next.previous = entry.previous;
    // An entry in the old generation would keep all later ones, and what their attempts contain, until a full collection.
    entry.previous = null;
    entry.next = null;
    // A process without attempts may end.
    if (this.first === null) this.timer?.unref();
  }

  wait(ms: number): void {
    this.timer = setTimeout(() => this.expire(), Math.ceil(ms));
  }

  expire(): void {
    this.timer = null;
    const nowMs = performance.now();
    for (let expired = 0; expired < expiredMax && this.first !== null; expired += 1) {
      const { first } = this;
      if (first.expiresAtMs > nowMs) break;
      this.remove(first);
      first.onExpire();
    }
    // The timer may fire a fraction of a millisecond early, or for a deadline that was canceled.
    if (this.first !== null && this.timer === null) this.wait(Math.max(0, this.first.expiresAtMs - nowMs));
  }
}
