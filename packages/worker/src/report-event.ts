import { formatGid } from '@deedwire/core';
import { type Logger, type RaiseAlarm, type ServerAlarm, withChosenFields } from '@deedwire/service-runtime';
import { PublicationError } from '@deedwire/store';
import { RenderError, type EngineEvent } from '@deedwire/webhooks';
import type { LoopHealth } from './loop-health.ts';
import type { WorkerMetrics } from './metrics.ts';

export interface ReporterOptions {
  logger: Logger;
  raiseAlarm: RaiseAlarm<EngineAlarm['kind'] | 'publication-refuses'>;
  metrics: WorkerMetrics;
  loops: LoopHealth;
  gidNamespace: string;
  now: () => Date;
}

type EngineAlarm = Extract<EngineEvent, { alarm: true }>;

/** The alarms of this app. */
export type WorkerAlarm = EngineAlarm['kind'] | ServerAlarm | 'clock-wrong';

type EventOf<Kind extends EngineEvent['kind']> = Extract<EngineEvent, { kind: Kind }>;

/** Logs and counts the events of the engine. */
export function createReporter({
  logger,
  raiseAlarm,
  metrics,
  loops,
  gidNamespace,
  now,
}: ReporterOptions): (event: EngineEvent) => void {
  const attemptLogger = withChosenFields(logger);

  function attempt({ delivery, isHeaderDropped, number, result, next }: EventOf<'attempt'>): void {
    const { responseStatus, error, durationMs, hostProblem, proxyProblem } = result;
    if (number === 1)
      metrics.deliveryLag.observe((now().getTime() - durationMs - delivery.occurredAt.getTime()) / 1_000);
    metrics.attempts.inc({ verdict: next.kind });
    if (isHeaderDropped) metrics.attemptsWithoutHeader.inc();
    metrics.attemptDuration.observe(durationMs / 1_000);
    const deliveryId = formatGid(gidNamespace, 'WebhookDelivery', delivery.deliveryId);
    attemptLogger.info(
      {
        requestId: delivery.requestId,
        deliveryId,
        subscriptionId: formatGid(gidNamespace, 'WebhookSubscription', delivery.subscriptionId),
        attempt: number,
        verdict: next.kind,
        responseStatus,
        error,
        durationMs,
        ...hostProblem,
        ...(proxyProblem && { proxy: proxyProblem.found }),
      },
      'attempt',
    );
  }

  return (event) => {
    loops.engineEvent(event);
    if (event.kind === 'attempt') return attempt(event);
    if (event.kind === 'settled') return;
    if (event.kind === 'exchanges-dropped') return metrics.exchangesLost.inc(event.count);
    if (event.kind === 'exchanges-not-stored') metrics.exchangesLost.inc(event.count);
    if (event.kind === 'statistics-dropped') metrics.statisticsLost.inc(event.count);
    if (event.kind === 'fanned-out') {
      metrics.entriesFannedOut.inc(event.entries);
      metrics.deliveriesCreated.inc(event.deliveries);
      return;
    }
    report(event);
  };

  function report(
    event: Exclude<EngineEvent, EventOf<'attempt' | 'settled' | 'fanned-out' | 'exchanges-dropped'>>,
  ): void {
    const { kind, ...fields } = event;
    const details = loggable(fields);
    if ('error' in event && event.error instanceof PublicationError)
      raiseAlarm('publication-refuses', { ...details, event: kind });
    else if ('alarm' in event) raiseAlarm(event.kind, details);
    // The engine retries after an error without an alarm, so it is only a warning.
    else if ('error' in event) logger.warn(details, kind);
    else logger.info(details, kind);
  }
}

/** Replaces deliveries by their ids, because they contain the body, and names errors as the logger expects them. */
function loggable(fields: object): Record<string, unknown> {
  const details: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'delivery') details['deliveryId'] = value.deliveryId;
    else if (name !== 'error') details[name] = value;
    else if (value instanceof RenderError) details['reason'] = value.message;
    else details['err'] = value;
  }
  return details;
}
