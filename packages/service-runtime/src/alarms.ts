import { Counter, type Registry } from 'prom-client';
import type { Logger } from './logger.ts';

/** Logs and counts an alarm: something needs an operator, as the table of `docs/operations.md` says. */
export type RaiseAlarm<Alarm extends string> = (alarm: Alarm, details: object) => void;

/**
 * The only place that writes the field `alarm` of the log and `deedwire_alarms_total`, from which the alert `DeedwireAlarm` fires.
 * Call it once per registry.
 */
export function createAlarms<Alarm extends string>(registry: Registry, logger: Logger): RaiseAlarm<Alarm> {
  const alarms = new Counter({
    name: 'deedwire_alarms_total',
    help: 'Log lines that need an operator, by alarm.',
    labelNames: ['alarm'],
    registers: [registry],
  });
  return (alarm, details) => {
    alarms.inc({ alarm });
    logger.error({ ...details, alarm }, alarm);
  };
}
