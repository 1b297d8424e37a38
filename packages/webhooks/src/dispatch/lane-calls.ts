import { BatchedCalls, type BatchedCallsOptions } from './batched-calls.ts';

/** One kind of call to storage, as one lane makes it: at most one at a time. */
export class LaneCall {
  isPending = false;
  #cancelled = 0;

  /** Returns what `end` needs, or null if a call is pending. */
  start(): number | null {
    if (this.isPending) return null;
    this.isPending = true;
    return this.#cancelled;
  }

  /** The result of a pending call will be ignored, because the lane was closed or has changed. */
  cancel(): void {
    this.isPending = false;
    this.#cancelled += 1;
  }

  /** Returns false if the call was cancelled. */
  isCurrent(started: number): boolean {
    return started === this.#cancelled;
  }

  /** Ends a call. Returns false if it was cancelled. */
  end(started: number): boolean {
    if (!this.isCurrent(started)) return false;
    this.isPending = false;
    return true;
  }
}

interface Request<Item> {
  readonly item: Item;
  readonly started: number;
}

export interface LaneCallsOptions<Item, Result> extends Omit<BatchedCallsOptions<Item, Result>, 'isLocked' | 'onDone'> {
  callOf: (item: Item) => LaneCall;
  /** Not called if the call was cancelled. */
  onResult: (item: Item, result: Result) => void;
  /** Called once after the results of one call. */
  afterResults: () => void;
}

/** Makes the calls of many lanes in batches. */
export class LaneCalls<Item, Result> {
  readonly #callOf: (item: Item) => LaneCall;
  readonly #calls: BatchedCalls<Request<Item>, Result>;

  constructor(options: LaneCallsOptions<Item, Result>) {
    const { call, callOf, onResult, afterResults, onRefused, onLocked, ...rest } = options;
    const end = ({ item, started }: Request<Item>): boolean => callOf(item).end(started);
    this.#callOf = callOf;
    this.#calls = new BatchedCalls({
      ...rest,
      call: (requests) => call(requests.map(({ item }) => item)),
      onDone(requests, result) {
        for (const request of requests) if (end(request)) onResult(request.item, result);
        afterResults();
      },
      onRefused(request, error) {
        if (end(request)) onRefused(request.item, error);
      },
      onLocked: ({ item }, error) => onLocked(item, error),
    });
  }

  /** No effect while a call of the lane is pending. */
  request(item: Item): void {
    const started = this.#callOf(item).start();
    if (started !== null) this.#calls.add({ item, started });
  }

  stop(): void {
    this.#calls.stop();
  }
}
