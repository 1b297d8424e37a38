import type { ActionContext, Caller } from '../kernel/context.ts';
import { InvalidArgumentError } from '../kernel/errors.ts';
import { type Health, selectHealth } from '../webhooks/subscriptions/health.ts';
import {
  type HourStatistics,
  selectHourStatistics,
  statisticsHoursMax,
} from '../webhooks/subscriptions/hour-statistics.ts';
import { idOf } from './webhook-deliveries.ts';

/**
 * The health of each subscription, read with one statement.
 *
 * @param gids of results of another use case
 */
export async function readWebhookHealth(
  context: ActionContext,
  caller: Caller,
  gids: readonly string[],
): Promise<Health[]> {
  const ids = gids.map((gid) => idOf(context, 'WebhookSubscription', gid));
  return selectHealth(context.store, caller.accountId, ids);
}

/** `WebhookSubscription.statistics`. */
export interface StatisticsRequest {
  /** Of a result of another use case. */
  subscriptionId: string;
  /** 1 to 168. Null or undefined defaults to 24. */
  hours?: number | null | undefined;
}

const hoursDefault = 24;
const hourMs = 3_600_000;

/**
 * The last hours of each subscription, oldest first, read with one statement.
 *
 * @returns an error for a request in which `hours` is out of range
 */
export async function readWebhookStatistics(
  context: ActionContext,
  caller: Caller,
  requests: readonly StatisticsRequest[],
): Promise<(HourStatistics[] | InvalidArgumentError)[]> {
  const wanted = requests.map(({ subscriptionId, hours }) => ({
    id: idOf(context, 'WebhookSubscription', subscriptionId),
    hours: hours ?? hoursDefault,
  }));
  const valid = wanted.filter(({ hours }) => hours >= 1 && hours <= statisticsHoursMax);
  const ids = valid.map(({ id }) => id);
  const mostHours = Math.max(0, ...valid.map(({ hours }) => hours));
  const { currentHour, known } = await selectHourStatistics(context.store, caller.accountId, ids, mostHours);
  // A subscription that was deleted meanwhile has hours without counts.
  const currentMs = Math.floor((currentHour ?? context.now()).getTime() / hourMs) * hourMs;
  return wanted.map(({ id, hours }) => {
    if (hours < 1 || hours > statisticsHoursMax)
      return new InvalidArgumentError(`\`hours\` must be 1 to ${statisticsHoursMax}; it is ${hours}.`);
    const byHour = new Map(known.get(id)?.map((counts) => [counts.hour.getTime(), counts]));
    return Array.from({ length: hours }, (_, index) => {
      const startMs = currentMs - (hours - 1 - index) * hourMs;
      return byHour.get(startMs) ?? { ...nothing, hour: new Date(startMs) };
    });
  });
}

const nothing = { deliveredCount: 0, failedAttemptCount: 0, failedCount: 0, longestWaitSeconds: null };
