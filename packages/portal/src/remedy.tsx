import { useEffect, useState } from 'preact/hooks';
import * as documents from './generated/documents.ts';
import { LastResponse } from './last-response.tsx';
import { amountOf, deliveredText, outcomeOf, pausedText, type Sent, waitingText } from './remedy-report.ts';
import { startStopwatch } from './stopwatch.ts';
import { timeOf } from './time.ts';
import { Action } from './ui/action.tsx';
import { useNow } from './ui/time.tsx';
import { effectMs } from './use-query.ts';
import { failureOf, sentences } from './words.ts';

interface Props {
  readonly subscription: documents.SubscriptionFieldsFragment;
  readonly reload: () => void;
  /** Its report stays when the button goes. */
  readonly isShown: boolean;
}

/** Since then. */
interface Press extends Sent {
  readonly passedMs: () => number;
  readonly againMs: number;
}

/** Pending deliveries are sent at most once in this time. */
const againMs = 60_000;

/** Resume, or send what is pending: what an owner does once the receiver works. It then says what happens. */
export function Remedy({ subscription, reload, isShown }: Props) {
  const { id, status, pausedReason, health } = subscription;
  const [sent, setSent] = useState<Press | null>(null);
  // So that what depends on the time is shown again.
  useNow(sent ? 1000 : againMs);
  const passedMs = sent?.passedMs() ?? Infinity;
  const isPaused = status === 'PAUSED';
  const mayWork = isPaused ? pausedReason !== 'VERSION_RETIRED' : health.pendingCount > 0;
  const isTooSoon = !isPaused && sent !== null && !sent.isResumed && passedMs < againMs;
  const document: documents.DocumentId<documents.ResumeMutation | documents.SendPendingMutation, { id: string }> =
    isPaused ? documents.Resume : documents.SendPending;
  return (
    <Action
      isOffered={isShown && mayWork && !isTooSoon}
      label={isPaused ? 'Resume' : `Send pending now (${amountOf(health)})`}
      about={isPaused ? aboutResume(pausedReason) : aboutSend(health)}
      ability="OPERATE"
      primary
      document={document}
      variables={() => ({ id })}
      onDone={({ changed: { webhookSubscription } }) => {
        if (webhookSubscription) {
          const press = { passedMs: startStopwatch(), againMs: Date.now() + againMs };
          setSent({ ...webhookSubscription, ...press, isResumed: isPaused, before: subscription });
        }
        reload();
      }}
      report={() =>
        sent && (
          <>
            <Report key={sent.againMs} sent={sent} subscription={subscription} isLate={passedMs > effectMs} />
            {isTooSoon && mayWork && (
              <small>{`You can send pending deliveries again at ${timeOf(new Date(sent.againMs).toISOString())}.`}</small>
            )}
          </>
        )
      }
    />
  );
}

type Health = documents.SubscriptionFieldsFragment['health'];

function aboutResume(pausedReason: string | null): string {
  const needsHandshake = pausedReason === 'GONE' || pausedReason === 'FAILING';
  return sentences(
    'Deedwire sends what the endpoint missed.',
    needsHandshake && 'The callback URL has to pass the handshake first.',
  );
}

function aboutSend(health: Health): string {
  const what = `${amountOf(health)} pending ${health.pendingCount === 1 ? 'delivery' : 'deliveries'}`;
  return health.breakerOpenUntil === null
    ? `Sends ${what} now, oldest first. If 8 in a row fail, the rest stay on hold until one succeeds.`
    : `Your endpoint is failing, so one delivery is tried first. If it succeeds, all ${what} follow, oldest first. If it fails, they stay on hold, and Deedwire goes on trying one at a time.`;
}

interface ReportProps {
  readonly sent: Sent;
  readonly subscription: documents.SubscriptionFieldsFragment;
  readonly isLate: boolean;
}

/** What became of the deliveries that were sent. */
function Report({ sent, subscription, isLate }: ReportProps) {
  const [result, setResult] = useState<string | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const outcome = outcomeOf(sent, subscription);
  useEffect(() => {
    if (outcome === 'FAILING') setFailed(true);
    // A delivery whose last attempt failed is not pending either.
    if (outcome === 'DONE') setResult((last) => last ?? (hasFailed ? 'Nothing is pending now.' : deliveredText(sent)));
    if (outcome === 'PAUSED') setResult((last) => (last === null || !isLate ? pausedText(sent, subscription) : last));
  }, [outcome]);
  if (result !== null) return <>{result}</>;
  const { lastFailure } = subscription.health;
  if (outcome !== 'FAILING' || !lastFailure) return <>{waitingText(sent, subscription, isLate)}</>;
  return (
    <>
      {`Still failing: ${failureOf(lastFailure)}.`}
      <LastResponse failure={lastFailure} />
    </>
  );
}
