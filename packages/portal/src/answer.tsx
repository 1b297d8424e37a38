import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Delivery, type DeliveryQuery, Retry } from './generated/documents.ts';
import { LastResponse } from './last-response.tsx';
import { startStopwatch } from './stopwatch.ts';
import { Errors } from './ui/form.tsx';
import { Problem } from './ui/problem.tsx';
import { Advice } from './ui/text.tsx';
import { useNow } from './ui/time.tsx';
import { useMutation } from './use-mutation.ts';
import { effectMs, useQuery, watchClosely } from './use-query.ts';
import { resultTone, wordOf } from './words.ts';

type Attempt = NonNullable<DeliveryQuery['webhookDelivery']>['attempts'][number];

/** Why a delivery waits for something that a retry does not change. */
export const lastingDelays: readonly (string | undefined)[] = ['PAUSED', 'RETRY_AFTER', 'NO_WORKER'];

interface Props {
  /** Of a delivery that is about to be sent. */
  readonly id: string;
  /** How many attempts it had before. */
  readonly after: number;
  /** Whether it is sent at once, even while the others of its subscription are on hold. */
  readonly hasten?: boolean;
  /** Where to look for an answer later. */
  readonly children?: ComponentChildren;
}

/** What the endpoint answers. The dialog that sent the delivery stays open for it. */
export function Answer({ id, after, hasten = false, children }: Props) {
  const [passedMs] = useState(startStopwatch);
  // So that the page says at some time that it is late.
  useNow(1000);
  const isLate = passedMs() > effectMs;
  const { data, failure, reload } = useQuery(Delivery, { id, before: null }, null);
  const retry = useMutation(Retry);
  const delivery = data?.webhookDelivery;
  const attempt = delivery?.attempts.findLast(({ number }) => number > after);
  const isOnHold = hasten && !attempt && (delivery?.subscription?.health.breakerOpenUntil ?? null) !== null;
  useEffect(() => {
    if (isOnHold) void retry.run(() => ({ id })).then(watchClosely);
  }, [isOnHold]);
  if (attempt) return <Result id={id} attempt={attempt} />;
  const delay = delivery?.delay;
  const problem = failure ?? retry.failure;
  return (
    <>
      <p>{isLate ? 'Still waiting…' : waitingText}</p>
      {delay && (isLate || lastingDelays.includes(delay.reason)) && (
        <p>
          <Advice text={delay.message} />
        </p>
      )}
      {isLate && <p>{children}</p>}
      <Errors of={retry.userErrors} />
      {problem && <Problem failure={problem} retry={reload} />}
    </>
  );
}

export const waitingText = 'Queued. Waiting for the answer of your endpoint…';

function Result({ id, attempt }: { id: string; attempt: Attempt }) {
  const { responseStatus, error, advice, durationMs } = attempt;
  const time = `${durationMs.toLocaleString('en')} ms`;
  return (
    <>
      <p>
        <b>
          {error !== null
            ? `No complete answer: ${wordOf(error)}, after ${time}.`
            : resultTone(attempt) === 'good'
              ? `Delivered: ${responseStatus} in ${time}.`
              : `Your endpoint answered ${responseStatus} in ${time}.`}
        </b>
      </p>
      {resultTone(attempt) === 'bad' && <LastResponse failure={{ ...attempt, deliveryId: id }} />}
      {advice !== null && (
        <p>
          <Advice text={advice} />
        </p>
      )}
    </>
  );
}
