import { ignoreFailure, type LogFields, type ReceiverLog, writeLine } from './log.ts';
import type { Outcome, OutcomeCode } from './responses.ts';

/** What became of a request. */
export interface ReceiverResult {
  /** `PROCESSED`, `DUPLICATE`, `ACCEPTED`, `KEPT`, `UNHANDLED`, `HANDSHAKE`, or why the request was refused. More codes may be added. */
  readonly code: OutcomeCode;
  /** Of the response. */
  readonly status: number;
  /** The `webhook-id` of the delivery. Null unless the request is an authentic event. */
  readonly id: string | null;
  /** Null unless the request is an authentic event. */
  readonly type: string | null;
  /** Null unless the request is an authentic event. */
  readonly version: string | null;
  /** From the call of the receiver to its response. */
  readonly durationMs: number;
}

const windowMs = 60_000;
const linesPerWindow = 10;

/** Reports outcomes to the log and to the metrics of the application. */
export class Reports {
  readonly #log: ReceiverLog;
  readonly #onResult: ((result: ReceiverResult) => unknown) | undefined;
  readonly #windows = new Map<string, { startMs: number; lines: number }>();

  constructor(log: ReceiverLog, onResult: ((result: ReceiverResult) => unknown) | undefined) {
    this.#log = log;
    this.#onResult = onResult;
  }

  /** @param startMs when the receiver was called, by `performance.now()` */
  add({ code, response: { status }, line, delivery }: Outcome, startMs: number): void {
    if (line !== undefined) {
      const { level, message, ...fields } = line;
      // What is acknowledged is logged once for each type and version, so no such line may be left out.
      const suppressed = status < 300 ? 0 : this.#suppressed(code);
      if (suppressed !== null)
        this.write(level, { code, ...delivery, ...(suppressed > 0 && { suppressed }), ...fields }, message);
    }
    const durationMs = performance.now() - startMs;
    const none = { id: null, type: null, version: null };
    ignoreFailure(() => this.#onResult?.({ code, status, ...none, ...delivery, durationMs }));
  }

  write(level: keyof ReceiverLog, fields: LogFields, message: string): void {
    writeLine(this.#log, level, fields, message);
  }

  /** How many lines were left out before this one. Null if this one is left out, because anyone can cause refusals. */
  #suppressed(code: OutcomeCode): number | null {
    // Each names another delivery of Deedwire and another error.
    if (code === 'HANDLER_FAILED') return 0;
    const nowMs = performance.now();
    const window = this.#windows.get(code);
    if (window === undefined || nowMs - window.startMs >= windowMs) {
      this.#windows.set(code, { startMs: nowMs, lines: 1 });
      return Math.max(0, (window?.lines ?? 0) - linesPerWindow);
    }
    window.lines += 1;
    return window.lines > linesPerWindow ? null : 0;
  }
}
