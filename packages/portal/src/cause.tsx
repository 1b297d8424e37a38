import type * as documents from './generated/documents.ts';
import { LastResponse } from './last-response.tsx';
import { Link } from './location.tsx';
import { Remedy } from './remedy.tsx';
import { dayAndMinuteOf, formatDuration, formatRelative, timeOf } from './time.ts';
import { Links } from './ui/links.tsx';
import { Advice, Visible } from './ui/text.tsx';
import { useNow } from './ui/time.tsx';
import { hostOf, numberOf, pauseOf, plural, resultOf, sentences, toneOf } from './words.ts';

export interface Props {
  readonly subscription: documents.SubscriptionFieldsFragment;
  readonly reload: () => void;
}

/** All attempts have to fail for so long until Deedwire pauses a subscription. */
const pauseAfterMs = 96 * 3_600_000;

/**
 * What is wrong with a subscription: since when, what happens next, and what to press. If it is healthy, what the last press did.
 *
 * @param response whether to read what the endpoint responded, which takes a query
 */
export function Cause({ subscription, reload, response = true }: Props & { response?: boolean }) {
  const { id, health, status, pausedReason, pausedAt } = subscription;
  const isPaused = status === 'PAUSED';
  const isWrong = isPaused || health.consecutiveFailures > 0;
  const pending = isWrong && health.pendingCount > 0 && `deliveries?subscription=${numberOf(id)}&status=PENDING`;
  return (
    <div className={isWrong ? `why ${toneOf(health.state)}` : 'all'}>
      <div>
        {isPaused && <p>{sentences(pauseOf(pausedReason), pausedAt && `Paused since ${timeOf(pausedAt)}.`)}</p>}
        {isWrong && (!isPaused || pausedReason === 'FAILING') && (
          <Failing subscription={subscription} response={response} />
        )}
      </div>
      <div className="actions">
        <Links of={{ 'See pending': pending }} />
        <Remedy subscription={subscription} reload={reload} isShown={isWrong} />
      </div>
    </div>
  );
}

function Failing({ subscription, response }: Pick<Props, 'subscription'> & { response: boolean }) {
  const { callbackUrl, health, status } = subscription;
  const { failingSince, lastFailureAt, lastFailure: last, breakerOpenUntil, consecutiveFailures } = health;
  // An attempt can have failed after the page last looked at its clock.
  const now = Math.max(useNow(10_000), Date.parse(lastFailureAt ?? '') || 0);
  const sinceMs = Date.parse(failingSince ?? '');
  const since = failingSince ? ` since ${timeOf(failingSince)} (${formatDuration(now - sinceMs)})` : '';
  const untilMs = Date.parse(breakerOpenUntil ?? '');
  const isTested = breakerOpenUntil !== null && status !== 'PAUSED';
  return (
    <>
      <p>
        <Visible as="b" text={`${hostOf(callbackUrl)}: ${last ? resultOf(last) : 'attempts fail'}${since}.`} />{' '}
        {sentences(
          consecutiveFailures > 1 && `${plural(consecutiveFailures, 'attempt')} failed in a row.`,
          lastFailureAt &&
            `The last ${consecutiveFailures > 1 ? 'one' : 'attempt'} failed at ${timeOf(lastFailureAt)}.`,
          isTested &&
            `On hold: we try one delivery at a time. ${untilMs > now ? `Next try ${formatRelative(breakerOpenUntil, now)}` : 'The next try is due now'}.`,
          health.state === 'FAILING' &&
            failingSince &&
            `If it is still failing on ${dayAndMinuteOf(sinceMs + pauseAfterMs)}, the subscription is paused. You can resend anything that failed.`,
        )}
      </p>
      {last && response && <LastResponse failure={last} />}
      {last && (
        <p>
          <Advice text={last.advice} /> <Link to={`deliveries/${numberOf(last.deliveryId)}`}>View attempt</Link>
        </p>
      )}
    </>
  );
}
