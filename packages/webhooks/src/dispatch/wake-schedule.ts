import { Heap } from '../kernel/heap.ts';
import type { Lane, WakeNode } from './lane.ts';
import type { SteadyClock } from './steady-clock.ts';

/** The longest timer, so that the clock is read again soon after it was set forward. */
const timerMaxMs = 60_000;

/** Wakes each lane at its time, with one timer for all lanes. */
export class WakeSchedule {
  readonly #clock: SteadyClock;
  readonly #onWake: (lane: Lane, nowMs: number) => void;
  readonly #afterWake: () => void;
  readonly #heap = new Heap<WakeNode>();
  #cancelTimer: (() => void) | null = null;
  #timerAtMs = Infinity;

  /** @param afterWake called once after each group of lanes that woke together */
  constructor(clock: SteadyClock, onWake: (lane: Lane, nowMs: number) => void, afterWake: () => void) {
    this.#clock = clock;
    this.#onWake = onWake;
    this.#afterWake = afterWake;
  }

  set(lane: Lane, atMs: number, nowMs: number): void {
    const { wake } = lane;
    if (wake.heapIndex !== -1) {
      if (wake.heapKey === atMs) return;
      this.#heap.remove(wake);
    }
    this.#heap.add(wake, atMs);
    if (atMs < this.#timerAtMs) this.#startTimer(nowMs);
  }

  clear(lane: Lane): void {
    if (lane.wake.heapIndex !== -1) this.#heap.remove(lane.wake);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAtMs = -Infinity;
  }

  #startTimer(nowMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAtMs = Infinity;
    const { first } = this.#heap;
    if (first === undefined) return;
    const delayMs = Math.min(Math.max(1, Math.ceil(first.heapKey - nowMs)), timerMaxMs);
    this.#timerAtMs = nowMs + delayMs;
    this.#cancelTimer = this.#clock.setTimer(() => this.#wake(), delayMs);
  }

  #wake(): void {
    const nowMs = this.#clock.nowMs();
    // Otherwise each callback that sets a wake-up would start a timer. One is started for all of them below.
    this.#timerAtMs = -Infinity;
    for (let { first } = this.#heap; first !== undefined && first.heapKey <= nowMs; { first } = this.#heap) {
      this.#heap.remove(first);
      this.#onWake(first.lane, nowMs);
    }
    this.#startTimer(nowMs);
    this.#afterWake();
  }
}
