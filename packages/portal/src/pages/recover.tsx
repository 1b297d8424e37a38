import { useEffect, useState } from 'react';
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
import { delayOf, numberOf, plural, sentences } from '../words.ts';

const amounts: readonly Option[] = [
  ['failed', 'What failed'],
  ['all', 'Everything'],
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
  return (
    <>
      <Heading title="Recover" />
      <p>
        Send deliveries again that failed, or all of a range, for example after a bug in a receiver.{' '}
        <Link to={`recover/completeness${search(params, { what: null, confirmation: null, counted: null })}`}>
          Compare the log of a receiver
        </Link>{' '}
        to see what is missing.
      </p>
      {!mayOperate && <p>This session may not send anything. Ask for a link with the ability to operate.</p>}
      <Loaded query={query}>
        {(choices) => (
          <RangeForm
            choices={choices}
            selects={{ what: ['Send again', amounts] }}
            one
            // The count and the replay have the same range.
            onRange={(values) => ({
              ...values,
              counted: new Date().toISOString(),
              confirmation: crypto.randomUUID(),
            })}
          >
            {mayOperate && <button className={confirmation ? '' : 'first'}>Count</button>}
          </RangeForm>
        )}
      </Loaded>
      {query.data && !id && <p>There is no subscription.</p>}
      {mayOperate && id && confirmation && (
        <DryRun key={confirmation} subscriptionId={id} confirmation={confirmation} />
      )}
      {/* Read again once the replay of a confirmation was started. */}
      {id && <History key={`${id} ${confirmation}`} subscriptionId={id} />}
    </>
  );
}

/** Counts. Nothing is sent until the count was confirmed. */
function DryRun({ subscriptionId, confirmation }: { subscriptionId: string; confirmation: string }) {
  const { params } = useUrl();
  const type = params.get('type');
  const input: documents.ReplayWebhookEventsInput = {
    subscriptionId,
    since: params.get('since'),
    until: params.get('until') ?? params.get('counted'),
    eventTypes: type === null ? null : [type],
    onlyFailed: params.get('what') !== 'all',
  };
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
  if (running) return loading;
  if (estimate === null) return <Errors of={userErrors} />;
  const amount = `${plural(estimate.count, 'delivery', 'deliveries')}${estimate.isLowerBound ? ' or more' : ''}`;
  if (estimate.count === 0) return <p role="status">No delivery of this range matches.</p>;
  return (
    <div className="why idle" role="status">
      <div>
        <p>
          <b>{amount}</b> would be sent again, in {formatDuration(estimate.seconds * 1000)} or longer.
        </p>
        <p className="soft">
          {estimate.byType.map((each) => `${each.type} ${each.count.toLocaleString('en')}`).join(' · ')}
        </p>
      </div>
      <Action
        label={`Send ${amount} again`}
        about="They are queued at most 8 at a time, after other deliveries. What is pending is skipped. You can cancel it."
        ability="OPERATE"
        primary
        document={documents.Replay}
        variables={() => ({ input: { ...input, idempotencyKey: confirmation } })}
        onDone={() => go(`recover${search(params, { confirmation: null })}`, true)}
      />
    </div>
  );
}

function History({ subscriptionId }: { subscriptionId: string }) {
  const [isRunning, setRunning] = useState(true);
  const query = useQuery(documents.Replays, { subscriptionId }, isRunning ? 2000 : 15_000);
  const nodes = query.data?.webhookReplays.nodes;
  useEffect(() => setRunning(nodes?.some(({ status }) => status === 'RUNNING') ?? true), [nodes]);
  const rows = nodes?.map((each) => (
    <ReplayRow key={each.id} replay={each} reload={query.reload} subscriptionId={subscriptionId} />
  ));
  return (
    <>
      <h2>Replays</h2>
      <Loaded query={query}>{() => (rows?.length ? rows : <p className="soft">None yet.</p>)}</Loaded>
    </>
  );
}

interface ReplayRowProps {
  readonly replay: documents.ReplayFieldsFragment;
  readonly subscriptionId: string;
  readonly reload: () => void;
}

function ReplayRow({ replay, subscriptionId, reload }: ReplayRowProps) {
  const { id, status, createdAt, queuedCount, skippedCount, skippedPendingCount, position, waitsFor } = replay;
  const share = `${Math.floor(position * 100)} % of the range.`;
  const pending = skippedPendingCount ?? 0;
  return (
    <section className="sub">
      <Time at={createdAt} />
      <State value={status} />
      <div>
        <progress aria-label="Share of the range" value={position} />
        <small>{sentences(share, waitsFor && `${delayOf(waitsFor)}.`)}</small>
      </div>
      <div className="num">
        {queuedCount.toLocaleString('en')} queued
        <small>{skippedCount.toLocaleString('en')} skipped</small>
      </div>
      {pending > 0 && (
        <p className="all soft">
          {plural(pending, 'skipped delivery was', 'skipped deliveries were')} pending.{' '}
          <Link to={`subscriptions/${numberOf(subscriptionId)}`}>See the subscription</Link>
        </p>
      )}
      {status === 'RUNNING' && (
        <Action
          label="Cancel the replay"
          about="Nothing more is queued. At most 8 deliveries that are queued already are still sent."
          ability="OPERATE"
          document={documents.CancelReplay}
          variables={() => ({ id })}
          onDone={reload}
        />
      )}
    </section>
  );
}
