import { useEffect, useState } from 'react';
import * as documents from './generated/documents.ts';
import { LastResponse } from './last-response.tsx';
import { Action } from './ui/action.tsx';
import { useNow } from './ui/time.tsx';
import { effectMs } from './use-query.ts';
import { resultOf, sentences } from './words.ts';

interface Props {
  readonly subscription: documents.SubscriptionFieldsFragment;
  readonly reload: () => void;
  /** Its report stays when the button goes. */
  readonly isShown: boolean;
}

/** What was pending when the deliveries were sent. */
interface Sent extends documents.ProgressFragment {
  readonly isResumed: boolean;
  readonly atMs: number;
}

/** Pending deliveries are sent at most once in this time. */
const againMs = 60_000;

/** Resume, or send what is pending: what an owner does once the receiver works. It then says what happens. */
export function Remedy({ subscription, reload, isShown }: Props) {
  const { id, status, pausedReason, health } = subscription;
  const [sent, setSent] = useState<Sent | null>(null);
  const now = useNow(sent ? 1000 : againMs);
  const isPaused = status === 'PAUSED';
  const mayWork = isPaused ? pausedReason !== 'VERSION_RETIRED' : health.pendingCount > 0;
  const isTooSoon = !isPaused && sent !== null && !sent.isResumed && now - sent.atMs < againMs;
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
        if (webhookSubscription) setSent({ ...webhookSubscription, isResumed: isPaused, atMs: Date.now() });
        reload();
      }}
      report={() =>
        sent && <Report key={sent.atMs} sent={sent} subscription={subscription} isLate={now - sent.atMs > effectMs} />
      }
    />
  );
}

type Health = documents.SubscriptionFieldsFragment['health'];

function amountOf({ pendingCount, pendingCountIsLowerBound }: documents.ProgressFragment['health']): string {
  return `${pendingCount.toLocaleString('en')}${pendingCountIsLowerBound ? '+' : ''}`;
}

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

/** What became of the deliveries that were sent. The subscription can have been read before. */
function Report({ sent, subscription: { status, health }, isLate }: ReportProps) {
  const [result, setResult] = useState<string | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const isFailing = (health.lastFailureAt ?? '') > (sent.health.lastFailureAt ?? '');
  const isDone = status !== 'PAUSED' && health.pendingCount === 0 && health.consecutiveFailures === 0;
  useEffect(() => {
    if (isFailing) setFailed(true);
    // A delivery whose last attempt failed is not pending either.
    if (isDone) setResult((last) => last ?? (hasFailed ? 'Nothing is pending now.' : deliveredText(sent)));
  }, [isFailing, isDone]);
  const failed = isFailing && result === null && health.lastFailure;
  if (!failed) return result ?? waitingTextOf(sent, health, isLate);
  return (
    <>
      {`Still ${resultOf(failed)}.`}
      <LastResponse failure={failed} />
    </>
  );
}

function waitingTextOf(sent: Sent, health: Health, isLate: boolean): string {
  if (sent.health.pendingCount === 0) return 'Resumed.';
  return isLate ? `Still waiting: ${amountOf(health)} pending.` : `Sending ${amountOf(sent.health)} now…`;
}

function deliveredText({ health }: Sent): string {
  if (health.pendingCount === 0) return 'Resumed. Nothing was pending.';
  return health.pendingCountIsLowerBound ? 'All were delivered.' : `${health.pendingCount} delivered.`;
}
