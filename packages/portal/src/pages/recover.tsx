import { useEffect, useState } from 'react';
import { gidOf, useMay, useMutation, useQuery, useSession } from '../api.ts';
import {
  CancelReplay,
  Choices,
  Replay,
  type ReplayFieldsFragment,
  type ReplayMutation,
  type ReplayMutationVariables,
  Replays,
} from '../generated/documents.ts';
import { go, Link, search, useUrl } from '../location.tsx';
import { formatDuration, fromLocalInput, toLocalInput } from '../time.ts';
import {
  Action,
  Errors,
  Heading,
  Input,
  Loaded,
  loading,
  onSubmit,
  Problem,
  Select,
  State,
  Time,
  type Values,
} from '../ui.tsx';
import { nameOf, numberOf, plural, sentences, wordOf } from '../words.ts';

const amounts = [
  ['failed', 'What failed'],
  ['all', 'Everything, also what was delivered'],
] as const;

/** The range is in the URL, and so is the idempotency key of its confirmation: a reload or a second tab has the same one. */
export default function RecoverPage() {
  const session = useSession();
  const { params } = useUrl();
  const query = useQuery(Choices, {});
  const mayOperate = useMay('OPERATE');
  const subscriptions = (query.data?.webhookSubscriptions.nodes ?? []).map(
    (each) => [numberOf(each.id), nameOf(each)] as const,
  );
  const types = (query.data?.webhookEventTypes ?? []).map(({ type }) => [type, type] as const);
  const number = params.get('subscription') ?? subscriptions[0]?.[0];
  const id = number && gidOf(session, 'WebhookSubscription', number);
  const confirmation = params.get('confirmation');
  const count = (values: Values) => {
    // The count and the replay have the same range.
    const until = fromLocalInput(values['until']) ?? new Date().toISOString();
    const since = fromLocalInput(values['since']);
    go(`recover${search(params, { ...values, since, until, confirmation: crypto.randomUUID() })}`);
  };
  return (
    <>
      <Heading title="Recover" />
      <p>Send deliveries again that failed, or all of a range, for example after a bug in a receiver.</p>
      {!mayOperate && <p>This session may not send anything. Ask for a link with the ability to operate.</p>}
      <Loaded query={query}>
        {() => (
          <>
            {!id && <p>There is no subscription.</p>}
            {mayOperate && id && (
              <form className="filters" key={String(params)} onSubmit={onSubmit(count)}>
                <Select
                  name="subscription"
                  label="Subscription"
                  value={number}
                  options={subscriptions}
                  onChange={(event) => go(`recover?subscription=${event.currentTarget.value}`)}
                />
                <Select name="what" label="Send again" value={params.get('what') ?? 'failed'} options={amounts} />
                <Select
                  name="type"
                  label="Event type"
                  value={params.get('type') ?? ''}
                  options={[['', 'All'], ...types]}
                />
                <Input
                  name="since"
                  label="Created since"
                  type="datetime-local"
                  defaultValue={toLocalInput(params.get('since'))}
                />
                <Input
                  name="until"
                  label="Created before"
                  type="datetime-local"
                  defaultValue={toLocalInput(params.get('until'))}
                />
                <button className={confirmation ? '' : 'first'}>Count</button>
              </form>
            )}
            {mayOperate && id && confirmation && (
              <DryRun key={confirmation} subscriptionId={id} confirmation={confirmation} />
            )}
            {id && <History subscriptionId={id} />}
          </>
        )}
      </Loaded>
    </>
  );
}

/** Counts. Nothing is sent until the count was confirmed. */
function DryRun({ subscriptionId, confirmation }: { subscriptionId: string; confirmation: string }) {
  const { params } = useUrl();
  const type = params.get('type');
  const input: ReplayMutationVariables['input'] = {
    subscriptionId,
    since: params.get('since'),
    until: params.get('until'),
    eventTypes: type === null ? null : [type],
    onlyFailed: params.get('what') !== 'all',
  };
  const { run, running, failure, userErrors } = useMutation(Replay);
  const [estimate, setEstimate] = useState<ReplayMutation['replayWebhookEvents']['estimate']>(null);
  const count = async () => {
    const result = await run({ input: { ...input, dryRun: true } });
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
        document={Replay}
        variables={() => ({ input: { ...input, idempotencyKey: confirmation } })}
        onDone={() => go(`recover${search(params, { confirmation: null })}`, true)}
      />
    </div>
  );
}

function History({ subscriptionId }: { subscriptionId: string }) {
  const [isRunning, setRunning] = useState(true);
  const query = useQuery(Replays, { subscriptionId }, isRunning ? 2000 : 15_000);
  const nodes = query.data?.webhookReplays.nodes;
  useEffect(() => setRunning(nodes?.some(({ status }) => status === 'RUNNING') ?? true), [nodes]);
  return (
    <>
      <h2>Replays</h2>
      <Loaded query={query}>
        {() => (
          <>
            {nodes?.length === 0 && <p className="soft">None yet.</p>}
            {nodes?.map((each) => (
              <ReplayRow key={each.id} replay={each} reload={query.reload} subscriptionId={subscriptionId} />
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}

interface ReplayRowProps {
  readonly replay: ReplayFieldsFragment;
  readonly subscriptionId: string;
  readonly reload: () => void;
}

function ReplayRow({ replay, subscriptionId, reload }: ReplayRowProps) {
  const { id, status, createdAt, queuedCount, skippedCount, skippedPendingCount, position, waitsFor } = replay;
  const share = `${Math.floor(position * 100)} % of the range.`;
  return (
    <section className="sub">
      <Time at={createdAt} />
      <State value={status} />
      <div>
        <progress aria-label="Share of the range" value={position} />
        <small>{sentences(share, waitsFor && `Waits: ${wordOf(waitsFor).toLowerCase()}.`)}</small>
      </div>
      <div className="num">
        {queuedCount.toLocaleString('en')} queued
        <small>{skippedCount.toLocaleString('en')} skipped</small>
      </div>
      {Boolean(skippedPendingCount) && (
        <p className="all soft">
          {plural(skippedPendingCount ?? 0, 'skipped delivery was', 'skipped deliveries were')} pending.{' '}
          <Link to={`subscriptions/${numberOf(subscriptionId)}`}>Send what waits</Link>
        </p>
      )}
      {status === 'RUNNING' && (
        <Action
          label="Cancel the replay"
          about="Nothing more is queued. At most 8 deliveries that are queued already are still sent."
          ability="OPERATE"
          document={CancelReplay}
          variables={() => ({ id })}
          onDone={reload}
        />
      )}
    </section>
  );
}
