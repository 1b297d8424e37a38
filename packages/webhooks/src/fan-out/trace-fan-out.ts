import type { StoredEvent } from './renderer.ts';
import type { RoundPlan } from './round-plan.ts';

/** A span of the fan-out of one event. */
export interface FanOutSpan {
  /** For the attempts that follow from it. Undefined if it is not sampled. */
  readonly traceParent: string | undefined;
  /** @param error the name of an error. Undefined if the deliveries are stored */
  end(error?: string): void;
}

/**
 * Starts the span of the fan-out of an event that is traced.
 *
 * @param deliveries how many deliveries of the event the round stores
 * @param startMs when the round began, in milliseconds since the epoch
 */
export type TraceFanOut = (event: StoredEvent, deliveries: number, startMs: number | undefined) => FanOutSpan;

/** Starts a span for each event of the plan that is traced and has deliveries, which then belong to this span. */
export function startSpans({ deliveries }: RoundPlan, traceFanOut: TraceFanOut, startMs?: number): FanOutSpan[] {
  const counts = new Map<StoredEvent, number>();
  for (const { event } of deliveries) {
    if (event.traceParent !== undefined) counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return Array.from(counts, ([event, count]) => {
    const span = traceFanOut(event, count, startMs);
    if (span.traceParent !== undefined) event.traceParent = span.traceParent;
    return span;
  });
}

export function endSpans(spans: readonly FanOutSpan[], error?: unknown): void {
  if (spans.length === 0) return;
  const name = error === undefined ? undefined : error instanceof Error ? error.name : 'Error';
  for (const span of spans) span.end(name);
}
