import type { Store } from '@deedwire/store';
import type { DetailsPolicy, ExchangeDetails } from '@deedwire/webhook-sender';
import type { ExchangesEvent, Reports } from '../events.ts';
import type { Clock } from '../kernel/clock.ts';
import type { SubscriptionId } from '../kernel/ids.ts';
import { KeptAttempts } from './kept-attempts.ts';
import { type AttemptDetails, insertExchanges } from './sql/insert-exchanges.ts';

export interface ExchangesOptions extends Reports<ExchangesEvent> {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
}

const collectMs = 100;
/** What may wait in memory. */
const waitingMax = 4_096;
const waitingBytesMax = 8_000_000;
/** Of one statement. Small, so that encoding it does not delay other work of the process. */
const batchMax = 256;
const batchBytesMax = 512_000;
/** The pause after a statement that failed. It doubles with each failure. */
const pauseMs = 1_000;
const pauseMaxMs = 60_000;

interface Waiting {
  readonly exchange: AttemptDetails;
  readonly bytes: number;
}

/**
 * Stores the details of attempts, in batches, one statement at a time. Nothing waits for it: what the database does not accept in
 * time is lost, and so are those in memory when the process is killed.
 */
export class Exchanges {
  readonly #options: ExchangesOptions;
  readonly #kept = new KeptAttempts();
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #failures = 0;
  #cancelTimer: (() => void) | null = null;
  #writing: Promise<void> | null = null;

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  /** @param number of the attempt, from 1 */
  policyOf(subscriptionId: SubscriptionId, number: number): DetailsPolicy {
    return this.#kept.policyOf(subscriptionId, number);
  }

  add(exchange: AttemptDetails): void {
    const bytes = bytesOf(exchange.details);
    if (this.#waiting.length >= waitingMax || this.#waitingBytes + bytes > waitingBytesMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push({ exchange, bytes });
    this.#waitingBytes += bytes;
    if (this.#writing === null) this.#writeAfter(collectMs);
  }

  /** Stores the details in memory, unless the database refuses it. */
  async flush(): Promise<void> {
    this.#cancel();
    await this.#writing;
    this.#cancel();
    for (this.#failures = 0; this.#waiting.length > 0 && this.#failures === 0;) await this.#write();
  }

  async stop(): Promise<void> {
    await this.flush();
    this.#cancel();
    this.#waiting = [];
  }

  #cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #writeAfter(delayMs: number): void {
    this.#cancelTimer ??= this.#options.clock.setTimer(() => {
      this.#cancelTimer = null;
      this.#writing = this.#writeAndContinue();
    }, delayMs);
  }

  async #writeAndContinue(): Promise<void> {
    await this.#write();
    this.#writing = null;
    if (this.#failures > 0) this.#writeAfter(Math.min(pauseMs * 2 ** (this.#failures - 1), pauseMaxMs));
    else if (this.#waiting.length > 0) this.#writeAfter(this.#waiting.length < batchMax ? collectMs : 0);
  }

  async #write(): Promise<void> {
    const { store, onEvent } = this.#options;
    if (this.#dropped > 0) onEvent({ kind: 'exchanges-dropped', count: this.#dropped });
    this.#dropped = 0;
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    try {
      await insertExchanges(store, batch);
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      onEvent({ kind: 'exchanges-not-stored', count: batch.length, error });
    }
  }

  #takeBatch(): AttemptDetails[] {
    let [count, bytes] = [0, 0];
    for (const waiting of this.#waiting) {
      if (count === batchMax || (count > 0 && bytes + waiting.bytes > batchBytesMax)) break;
      count += 1;
      bytes += waiting.bytes;
    }
    const batch = this.#waiting.slice(0, count).map(({ exchange }) => exchange);
    this.#waiting = this.#waiting.slice(count);
    this.#waitingBytes -= bytes;
    return batch;
  }
}

/** About what an exchange takes in memory. */
function bytesOf({ requestHeaders, responseHeaders, responseBody }: ExchangeDetails): number {
  let bytes = responseBody?.length ?? 0;
  for (const text of requestHeaders) bytes += text.length + 16;
  for (const text of responseHeaders) bytes += text.length + 16;
  return bytes;
}
