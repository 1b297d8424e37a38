import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as documents from '../generated/documents.ts';
import { go, Link, search, useUrl } from '../location.tsx';
import { RangeForm } from '../range-form.tsx';
import { gidOf, useMay, useSession } from '../session.ts';
import { formatDuration } from '../time.ts';
import { Action } from '../ui/action.tsx';
import { Errors, type Option } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded, loading, Problem } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Time } from '../ui/time.tsx';
import { useMutation } from '../use-mutation.ts';
import { useQuery } from '../use-query.ts';
import { delayOf, holdOf, numberOf, plural, sentences, toneOf, wordOf } from '../words.ts';

const amounts: readonly Option[] = [
  ['failed', 'Failed'],
  ['all', 'All deliveries'],
];

/** The range is in the URL, and so is the idempotency key of its confirmation: a reload or a second tab has the same one. */
export default function RecoverPage() {
  const session = useSession();
  const { params } = useUrl();
  const query = useQuery(documents.Choices, {});
  const mayOperate = useMay('OPERATE');
  const [first] = query.data?.webhookSubscriptions.nodes ?? [];
  const number = params.get('subscription');
  const id = number === null ? first?.id : gidOf(session, 'WebhookSubscription', number);
  const confirmation = params.get('confirmation');
  const isAll = params.get('what') === 'all';
  const startedRef = useRef(false);
  return (
    <>
      <Heading title="Resend" />
      <p>
        Resend deliveries that failed, or all of a range, for example after a bug in your endpoint.{' '}
        <Link to={`recover/completeness${search(params, { what: null, confirmation: null, counted: null })}`}>
          Compare the log of your endpoint
        </Link>{' '}
        to see what it missed.
      </p>
      {!mayOperate && <p>You can only look. To resend, ask for a link that allows it.</p>}
      <Loaded query={query}>
        {(choices) => (
          <RangeForm
            choices={choices}
            selects={{ what: ['Deliveries', amounts] }}
            one
            fromNote={isAll ? 'Needed to resend all deliveries.' : null}
            // The preview and the replay have the same range.
            onRange={(values) => ({
              ...values,
              counted: new Date().toISOString(),
              confirmation: crypto.randomUUID(),
            })}
          >
            {mayOperate && <button className={confirmation ? '' : 'first'}>Preview</button>}
          </RangeForm>
        )}
      </Loaded>
      {query.data && !id && <p>There is no subscription yet.</p>}
      {mayOperate && id && confirmation && (
        <Preview key={confirmation} subscriptionId={id} confirmation={confirmation} startedRef={startedRef} />
      )}
      {/* Read again once the resend of a confirmation was started. */}
      {id && <History key={`${id} ${confirmation}`} subscriptionId={id} startedRef={startedRef} />}
    </>
  );
}

function Hold({ text, subscriptionId }: { text: string; subscriptionId: string }) {
  return (
    <>
      {text} <Link to={`subscriptions/${numberOf(subscriptionId)}`}>See the subscription</Link>
    </>
  );
}

interface PreviewProps {
  readonly subscriptionId: string;
  readonly confirmation: string;
  /** Set when a resend starts: its row takes the focus. */
  readonly startedRef: RefObject<boolean>;
}

/** Counts. Nothing is sent until the count was confirmed. */
function Preview({ subscriptionId, confirmation, startedRef }: PreviewProps) {
  const { params } = useUrl();
  const type = params.get('type');
  const input: documents.ReplayWebhookEventsInput = {
    subscriptionId,
    since: params.get('since'),
    until: params.get('until') ?? params.get('counted'),
    eventTypes: type === null ? null : [type],
    onlyFailed: params.get('what') !== 'all',
  };
  const query = useQuery(documents.Subscription, { id: subscriptionId });
  const { run, running, failure, userErrors } = useMutation(documents.Replay);
  const [estimate, setEstimate] = useState<documents.ReplayMutation['replayWebhookEvents']['estimate']>(null);
  const count = async () => {
    const result = await run(() => ({ input: { ...input, dryRun: true } }));
    setEstimate(result?.replayWebhookEvents.estimate ?? null);
  };
  useEffect(() => {
    void count();
  }, []);
  if (failure) return <Problem failure={failure} retry={() => void count()} />;
  if (running || (!query.data && !query.failure)) return loading;
  if (estimate === null) return <Errors of={userErrors} />;
  const amount = `${plural(estimate.count, 'delivery', 'deliveries')}${estimate.isLowerBound ? ' or more' : ''}`;
  const duration = estimate.seconds <= 1 ? 'a second' : formatDuration(estimate.seconds * 1000);
  const subscription = query.data?.webhookSubscription;
  const isPaused = subscription?.status === 'PAUSED';
  if (estimate.count === 0) {
    const { pendingCount = 0, pendingCountIsLowerBound = false } = subscription?.health ?? {};
    const pending = pendingCount.toLocaleString('en') + (pendingCountIsLowerBound ? '+' : '');
    const isOne = pending === '1';
    return (
      <p role="status">
        {input.onlyFailed ? 'Nothing failed for good in this range. ' : 'There is nothing to resend in this range. '}
        {pendingCount > 0 &&
          `${pending} ${isOne ? 'is pending: it is' : 'are pending: they are'} sent ${isPaused ? 'when you resume' : 'as the endpoint allows'}. `}
        {query.failure && 'Whether deliveries are pending could not be read.'}
      </p>
    );
  }
  const hold = holdOf(isPaused ? 'PAUSED' : subscription?.health.breakerOpenUntil ? 'BREAKER_OPEN' : null);
  return (
    <div className="why idle" role="status">
      <div>
        <p>
          Resends <b>{amount}</b>.{' '}
          {hold ? <Hold text={hold} subscriptionId={subscriptionId} /> : `Takes ${duration} or more.`}
        </p>
        <p className="soft">
          {estimate.byType.map((each) => `${each.type} ${each.count.toLocaleString('en')}`).join(' · ')}
        </p>
      </div>
      <Action
        label={`Resend ${amount}`}
        about="At most 8 are sent at a time, after new deliveries. Pending deliveries are skipped. You can cancel the rest."
        ability="OPERATE"
        primary
        document={documents.Replay}
        variables={() => ({ input: { ...input, idempotencyKey: confirmation } })}
        onDone={() => {
          startedRef.current = true;
          go(`recover${search(params, { confirmation: null })}`, true);
        }}
      />
    </div>
  );
}

function History({ subscriptionId, startedRef }: Pick<PreviewProps, 'subscriptionId' | 'startedRef'>) {
  const [isRunning, setRunning] = useState(true);
  const query = useQuery(documents.Replays, { subscriptionId }, isRunning ? 2000 : 15_000);
  const nodes = query.data?.webhookReplays.nodes;
  useEffect(() => setRunning(nodes?.some(({ status }) => status === 'RUNNING') ?? true), [nodes]);
  const rows = nodes?.map((each, at) => (
    <ReplayRow
      key={each.id}
      replay={each}
      reload={query.reload}
      subscriptionId={subscriptionId}
      startedRef={at === 0 ? startedRef : null}
    />
  ));
  return (
    <>
      <h2>Resent before</h2>
      <Loaded query={query}>{() => (rows?.length ? rows : <p className="soft">None yet.</p>)}</Loaded>
    </>
  );
}

interface ReplayRowProps {
  readonly replay: documents.ReplayFieldsFragment;
  readonly subscriptionId: string;
  readonly reload: () => void;
  /** Null on a row that is not the newest. */
  readonly startedRef: RefObject<boolean> | null;
}

function ReplayRow({ replay, subscriptionId, reload, startedRef }: ReplayRowProps) {
  const { id, status, createdAt, queuedCount, skippedCount, skippedPendingCount, position, waitsFor } = replay;
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!startedRef?.current) return;
    startedRef.current = false;
    row.current?.focus();
  }, []);
  const hold = status === 'RUNNING' ? holdOf(waitsFor) : null;
  const pending = skippedPendingCount ?? 0;
  return (
    <section ref={row} className="sub" tabIndex={-1}>
      <Time at={createdAt} />
      <State value={hold ? 'ON_HOLD' : status} tone={hold ? 'warn' : toneOf(status)} />
      <div>
        <progress aria-label="Progress" value={position} />
        <small>
          {sentences(`${Math.floor(position * 100)} % done.`, !hold && waitsFor && `${delayOf(waitsFor)}.`)}
        </small>
      </div>
      <div className="num">
        {queuedCount.toLocaleString('en')} queued
        <small>{skippedCount.toLocaleString('en')} skipped</small>
      </div>
      {hold && (
        <p className="all">
          <Hold text={hold} subscriptionId={subscriptionId} />
        </p>
      )}
      {pending > 0 && (
        <p className="all soft">
          {plural(pending, 'skipped delivery was', 'skipped deliveries were')} pending.{' '}
          <Link to={`subscriptions/${numberOf(subscriptionId)}`}>See the subscription</Link>
        </p>
      )}
      <Action
        isOffered={status === 'RUNNING'}
        label="Cancel the resend"
        about="The rest is not sent. Up to 8 deliveries that are in the queue still are."
        ability="OPERATE"
        document={documents.CancelReplay}
        variables={() => ({ id })}
        onDone={reload}
        report={() =>
          status !== 'RUNNING' && `${wordOf(status)}. ${plural(queuedCount, 'delivery was', 'deliveries were')} queued.`
        }
      />
    </section>
  );
}
