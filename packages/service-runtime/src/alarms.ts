import { Counter, type Registry } from 'prom-client';
import type { Logger } from './logger.ts';

/** Logs and counts an alarm: something needs an operator, as the table of `docs/operations/alerts.md` says. */
export type RaiseAlarm<Alarm extends string> = (alarm: Alarm, details: object) => void;

/**
 * The alarms of every server. `request-broken`: a bug failed a request, which got `INTERNAL_SERVER_ERROR`. `database-exhausted`: the database
 * has no space, no memory, or cannot read or write a file; at most once a minute. `publication-refuses`: the database refused a write
 * because of a publication.
 */
export type ServerAlarm = 'database-exhausted' | 'publication-refuses' | 'request-broken';

const name = 'deedwire_alarms_total';

/** The only place that writes the field `alarm` of the log and `deedwire_alarms_total`, from which the alert `DeedwireAlarm` fires. */
export function createAlarms<Alarm extends string>(registry: Registry, logger: Logger): RaiseAlarm<Alarm> {
  // The parts of a process that raise alarms share one metric.
  const known = registry.getSingleMetric(name);
  const alarms = known instanceof Counter ? known : createCounter(registry);
  return (alarm, details) => {
    alarms.inc({ alarm });
    logger.error({ ...details, alarm }, alarm);
  };
}

function createCounter(registry: Registry): Counter<'alarm'> {
  return new Counter({
    name,
    help: 'Log lines that need an operator, by alarm.',
    labelNames: ['alarm'],
    registers: [registry],
  });
}
