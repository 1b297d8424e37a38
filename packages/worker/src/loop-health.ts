import type { EngineEvent } from '@deedwire/webhooks';

/** Work that the worker repeats: loops of the engine, and those of `createLoop`. */
export type LoopName =
  | Extract<EngineEvent, { kind: 'loop-resumed' }>['loop']
  | 'round'
  | 'change'
  | 'clock'
  | 'measure'
  | 'retirement'
  | 'alerts'
  | 'mail'
  | 'housekeeping';

/** A failure counts no longer if nothing of the loop has failed since: longer than any loop waits before it tries again. */
const forgetMs = 150_000;

interface Failures {
  readonly sinceMs: number;
  lastMs: number;
}

export interface LoopHealthOptions {
  /** How long a loop may fail until the worker is unready. */
  limitMs: number;
  /** Elapsed milliseconds since any moment. */
  nowMs: () => number;
  onFailed: (loop: LoopName) => void;
}

/** Which loops have failed without a success, and since when. */
export class LoopHealth {
  readonly #options: LoopHealthOptions;
  readonly #failing = new Map<LoopName, Failures>();

  constructor(options: LoopHealthOptions) {
    this.#options = options;
  }

  failed(loop: LoopName): void {
    const nowMs = this.#options.nowMs();
    const known = this.#failing.get(loop);
    if (known !== undefined && nowMs - known.lastMs <= forgetMs) known.lastMs = nowMs;
    else this.#failing.set(loop, { sinceMs: nowMs, lastMs: nowMs });
    this.#options.onFailed(loop);
  }

  succeeded(loop: LoopName): void {
    this.#failing.delete(loop);
  }

  /** Call it with each event of the engine. */
  engineEvent(event: EngineEvent): void {
    if (event.kind === 'loop-resumed') this.succeeded(event.loop);
    else if (event.kind === 'fanned-out') this.succeeded('round');
    else if (event.kind === 'worker-registered') {
      for (const loop of this.#failing.keys()) if (belongsToRegistration[loop]) this.succeeded(loop);
    } else {
      const loop = loopThatFailed(event);
      if (loop !== null) this.failed(loop);
    }
  }

  /** The loops that have failed for too long, one sentence each. */
  problems(): string[] {
    const { limitMs, nowMs } = this.#options;
    const now = nowMs();
    return [...this.#failing]
      .filter(([, { sinceMs, lastMs }]) => lastMs - sinceMs >= limitMs && now - lastMs <= forgetMs)
      .map(([loop]) => `the loop ${loop} has failed for more than ${limitMs / 1_000} s; see the log`);
  }
}

/**
 * Whether a loop renews the lease of a registration, or works on its shards. What it failed to do is dropped when the worker was
 * declared dead. It begins anew when the worker registers again, and may have nothing to do.
 */
const belongsToRegistration: Readonly<Record<LoopName, boolean>> = {
  lease: true,
  shards: true,
  discover: true,
  round: true,
  unblock: true,
  refill: true,
  targets: true,
  countClaims: true,
  backlog: true,
  replays: true,
  change: true,
  freezes: true,
  settle: false,
  sharing: false,
  retention: false,
  clock: false,
  measure: false,
  retirement: false,
  alerts: false,
  mail: false,
  housekeeping: false,
};

const loopsOfFailures: Partial<Record<EngineEvent['kind'], LoopName>> = {
  'renewal-failed': 'lease',
  'sharing-failed': 'sharing',
  'freeze-unacknowledged': 'freezes',
  'shard-unreadable': 'shards',
  'backlog-unavailable': 'backlog',
  'replay-unavailable': 'replays',
  'retention-failed': 'retention',
};

function loopThatFailed(event: EngineEvent): LoopName | null {
  if (event.kind === 'storage-unavailable') return event.call;
  if (event.kind === 'fan-out-unavailable')
    return event.call === 'prepare' || event.call === 'check' ? null : event.call;
  return loopsOfFailures[event.kind] ?? null;
}
