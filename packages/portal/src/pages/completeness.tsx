import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type ComparedEvent,
  type Comparison,
  comparePage,
  doubtsOf,
  type Range,
  startComparison,
  unexpectedOf,
} from '../completeness.ts';
import { Choices, EventBodies, Events, type EventsQuery, Retry } from '../generated/documents.ts';
import { Link, search, useUrl } from '../location.tsx';
import { RangeForm } from '../range-form.tsx';
import { LogError, readLog, type ReceiverLog, textOf } from '../receiver-log.ts';
import { type Failure, failureOf, send } from '../request.ts';
import { gidOf, useMay, useSession } from '../session.ts';
import { formatUtc } from '../time.ts';
import { Action } from '../ui/action.tsx';
import { Copy } from '../ui/copy.tsx';
import { Dropped } from '../ui/dropped.tsx';
import { Heading } from '../ui/heading.tsx';
import { Links } from '../ui/links.tsx';
import { Loaded, Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { holdOf, nameOf, numberOf, plural, sentences } from '../words.ts';

interface Start {
  readonly startedMs: number;
  readonly log: ReceiverLog;
  readonly source: string;
  readonly subscriptionId: string;
  readonly subscription: string;
  readonly isPaused: boolean;
  readonly range: Range;
}

/** Whether a receiver has logged every event of a range. The log stays in the page. */
export default function CompletenessPage() {
  const session = useSession();
  const { params } = useUrl();
  const query = useQuery(Choices, {});
  const [file, setFile] = useState<File | null>(null);
  const [message, setMessage] = useState('');
  const [start, setStart] = useState<Start | null>(null);
  const pasted = useRef<HTMLTextAreaElement>(null);
  const subscriptions = query.data?.webhookSubscriptions.nodes ?? [];
  const number = params.get('subscription');
  const id = number === null ? subscriptions[0]?.id : gidOf(session, 'WebhookSubscription', number);
  const compare = async (since: string, until: string) => {
    const chosen = subscriptions.find((each) => each.id === id);
    if (!id) return;
    setStart(null);
    setMessage('Reading the log…');
    try {
      const sinceMs = since ? Date.parse(since) : null;
      const untilMs = Math.min(Date.now(), until ? Date.parse(until) : Infinity);
      if (sinceMs !== null && sinceMs >= untilMs)
        throw new LogError('From is in the future, so there is nothing to compare.');
      const log = await readLog(file ? textOf(file) : [pasted.current?.value ?? '']);
      const range = { sinceMs, untilMs, type: params.get('type') };
      const source = file ? file.name : 'the pasted log';
      const subscription = chosen ? nameOf(chosen) : numberOf(id);
      setStart({
        startedMs: Date.now(),
        log,
        source,
        subscriptionId: id,
        subscription,
        isPaused: chosen?.status === 'PAUSED',
        range,
      });
      setMessage('');
    } catch (error) {
      setMessage(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <Heading title="Completeness" above={<Link to={`recover${search(params, {})}`}>Resend</Link>} />
      <p>
        Did your endpoint get every event? Compare its log with the events of a subscription, and resend what is
        missing. The log stays in this page. Each line is a <code>webhook-id</code>, the id of an event, a body, or JSON
        with <code>deliveryId</code> and <code>body</code>.
      </p>
      <Dropped file={file} onFile={setFile} label="Drop a log file (.gz is fine) or paste it">
        <textarea ref={pasted} aria-label="Log" rows={6} autocomplete="off" spellcheck={false} />
      </Dropped>
      <Loaded query={query}>
        {(choices) => (
          <RangeForm
            choices={choices}
            selects={{}}
            one
            onRange={(values) => {
              void compare(values['since'] ?? '', values['until'] ?? '');
              return values;
            }}
          >
            <button className="first">Compare</button>
          </RangeForm>
        )}
      </Loaded>
      {query.data && !id && <p>There is no subscription yet.</p>}
      <div role="status">{message && <Visible text={message} />}</div>
      {start && <Compared key={start.startedMs} start={start} />}
    </>
  );
}

type Connection = NonNullable<EventsQuery['webhookEvents']>;

/** Reads the range page by page. After a failure it goes on where it was: nothing is left out. */
function Compared({ start }: { start: Start }) {
  const { log, range, subscriptionId } = start;
  const mayRead = useMay('READ_PAYLOAD');
  const found = useRef(startComparison());
  const cursor = useRef<string | null>(null);
  const abort = useRef(new AbortController());
  const [state, setState] = useState<'reading' | 'stopped' | 'done'>('reading');
  const [failure, setFailure] = useState<Failure | null>(null);
  const [, setRead] = useState<number | null>(null);

  const read = async () => {
    const { signal } = (abort.current = new AbortController());
    setState('reading');
    setFailure(null);
    try {
      for (let isLast = false; !isLast; setRead(found.current.readSequence)) {
        const after = cursor.current;
        const since = after === null && range.sinceMs !== null ? new Date(range.sinceMs).toISOString() : null;
        const document = mayRead && log.bodies > 0 ? EventBodies : Events;
        const page: Connection | null = (await send(document, { subscriptionId, after, since }, signal)).webhookEvents;
        if (page === null) throw new Error('There is no such subscription.');
        isLast = await comparePage(found.current, page, log, range);
        cursor.current = page.pageInfo.endCursor ?? after;
      }
      setState('done');
    } catch (error) {
      if (signal.aborted) return;
      setState('stopped');
      setFailure(failureOf(error));
    }
  };
  useEffect(() => {
    void read();
    return () => abort.current.abort();
  }, []);
  const stop = () => {
    abort.current.abort();
    setState('stopped');
  };
  const { compared, readSequence, lastSequence, startSequence } = found.current;
  if (state === 'done') return <Verdict start={start} found={found.current} />;
  const progress = `Compared ${plural(compared, 'event')}. Read up to sequence ${readSequence ?? 0} of ${lastSequence}.`;
  const isExpired = failure?.details.code === 'CURSOR_EXPIRED';
  return (
    <section className="why warn" aria-label="Progress">
      <div>
        <p role="status">
          <b>{state === 'reading' ? 'Comparing…' : 'Not finished: this is no proof.'}</b> {progress}
        </p>
        <progress
          aria-label="Share of the events"
          max={Math.max(1, lastSequence - (startSequence ?? 0))}
          value={(readSequence ?? 0) - (startSequence ?? 0)}
        />
        {isExpired && <p>The next events are no longer kept. Compare again, from a later time.</p>}
        {failure && <Problem failure={failure} {...(!isExpired && { retry: () => void read() })} />}
      </div>
      {state === 'reading' && <button onClick={stop}>Stop</button>}
      {state === 'stopped' && !failure && <button onClick={() => void read()}>Continue</button>}
    </section>
  );
}

const shownMax = 100;

function Verdict({ start, found }: { start: Start; found: Comparison }) {
  const { log, range, source, subscription, startedMs } = start;
  const { compared, comparedBodies, firstSequence, readSequence, missing, altered, tests } = found;
  const { unexpected, outside } = unexpectedOf(log, found, range);
  const doubts = doubtsOf(found, log, range, startedMs);
  const isDifferent = missing.length + altered.length > 0;
  const tone = isDifferent ? 'bad' : doubts.length > 0 || unexpected.length > 0 ? 'warn' : 'good';
  const counts = `${missing.length.toLocaleString('en')} missing, ${altered.length.toLocaleString('en')} altered, ${unexpected.length.toLocaleString('en')} unexpected`;
  const until = formatUtc(range.untilMs);
  return (
    <section aria-label="Result">
      <div className={`why ${tone}`}>
        <div role="status">
          <p>
            <b>{doubts.length > 0 ? `${counts}. This is no proof:` : isDifferent ? counts : `Complete: ${counts}`}</b>
          </p>
          {doubts.map((doubt) => (
            <p key={doubt}>
              <Visible text={doubt} />
            </p>
          ))}
          <p className="soft">
            {`Compared ${plural(compared, 'event')}${range.type ? ` of ${range.type}` : ''} of `}
            <Visible text={subscription} />
            {compared > 0 && `, from sequence ${firstSequence}, read up to ${readSequence}`}
            {`, created ${range.sinceMs === null ? '' : `since ${formatUtc(range.sinceMs)} and `}before ${until}, with `}
            {`${plural(log.ids.size, 'id')} in ${plural(log.lines, 'line')} of `}
            <Visible text={source} />
            {`. ${comparedBodies === 0 ? 'No bodies were compared, only ids' : `${plural(comparedBodies, 'body', 'bodies')} compared as JSON`}.`}
            {log.repeatedLines > 0 && ` ${plural(log.repeatedLines, 'line')} repeated an id.`}
            {outside > 0 && ` ${plural(outside, 'id')} of the log are of another time.`}
            {tests > 0 && ` ${plural(tests, 'test event')} left out.`}
          </p>
        </div>
      </div>
      {missing.length > 0 && <Send start={start} missing={missing} />}
      <Listed title="Missing: no line names them" events={missing} />
      <Listed title="Altered: the log has another body" events={altered} />
      {unexpected.length > 0 && (
        <>
          <h2>Unexpected: not events of this subscription</h2>
          <p>They can be of another subscription, or of another environment.</p>
          <Table
            head={['Line', 'Id']}
            rows={unexpected.slice(0, shownMax).map(({ line, id }) => [line, <code>{id}</code>])}
          />
          <More count={unexpected.length} ids={unexpected.map(({ id }) => id)} />
        </>
      )}
    </section>
  );
}

function Listed({ title, events }: { title: string; events: readonly (ComparedEvent & { line?: number })[] }) {
  if (events.length === 0) return null;
  const rows = events.slice(0, shownMax).map(({ sequence, deliveryId, type, createdMs, line }) => [
    sequence.toLocaleString('en'),
    <Link to={`deliveries/${numberOf(deliveryId)}`} translate={false}>
      {type}
    </Link>,
    <Time at={new Date(createdMs).toISOString()} />,
    ...(line === undefined ? [] : [`line ${line}`]),
  ]);
  return (
    <>
      <h2>{title}</h2>
      <Table head={['Sequence', 'Event', 'Created', ...(events[0]?.line === undefined ? [] : ['Log'])]} rows={rows} />
      <More count={events.length} ids={events.map(({ deliveryId }) => deliveryId)} />
    </>
  );
}

function More({ count, ids }: { count: number; ids: readonly string[] }) {
  return (
    <div className="actions">
      {count > shownMax && <span>{`The first ${shownMax} of ${count.toLocaleString('en')}.`}</span>}
      <Copy label={count === 1 ? 'Copy the id' : `Copy all ${count.toLocaleString('en')} ids`} text={ids.join('\n')} />
    </div>
  );
}

/** An account can retry so many deliveries in a minute. */
const retriesMax = 60;

function Send({
  start: { subscriptionId, isPaused, range },
  missing,
}: {
  start: Start;
  missing: readonly ComparedEvent[];
}) {
  const mayOperate = useMay('OPERATE');
  const times = missing.map(({ createdMs }) => createdMs);
  const [first, last] = times.reduce(([least, most], ms) => [Math.min(least, ms), Math.max(most, ms)], [Infinity, 0]);
  const parameters = search(new URLSearchParams(), {
    subscription: numberOf(subscriptionId),
    type: range.type,
    what: 'all',
    since: new Date(first).toISOString(),
    until: new Date(last + 1).toISOString(),
  });
  const amount = plural(missing.length, 'delivery', 'deliveries');
  return (
    <div className="actions">
      {missing.length <= retriesMax ? (
        <Action
          label={`Resend ${amount}`}
          about={sentences(
            'Their ids, sequences and bodies stay the same. At most 60 can be sent in a minute.',
            isPaused && holdOf('PAUSED'),
          )}
          ability="OPERATE"
          primary
          document={Retry}
          variables={() => ({ id: missing[0]?.deliveryId ?? '' })}
          more={missing.slice(1).map(({ deliveryId }) => ({ id: deliveryId }))}
          result={(_, refused) => (
            <>
              <p>
                {refused.length > 0 && `${missing.length - refused.length} of `}
                {`${amount} queued. Compare again once your endpoint has them.`}
              </p>
              {refused.map(({ index, message }) => (
                <p key={index} className="error">
                  <Visible text={`Sequence ${missing[index]?.sequence}: ${message}`} />
                </p>
              ))}
            </>
          )}
        />
      ) : (
        <>
          <Links of={{ 'Resend the whole range': mayOperate && `recover${parameters}` }} />
          <span className="soft">
            More than 60 are missing. An endpoint ignores events that it has already processed.
          </span>
        </>
      )}
      <span className="soft">
        Your endpoint can also fetch what it has not processed: <code>receiver.reconcile</code>
      </span>
    </div>
  );
}
