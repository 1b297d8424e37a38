import { curlCommand } from '@deedwire/core/curl-command';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Answer, lastingDelays } from '../answer.tsx';
import { type Bytes, bytesOfBase64, bytesOfText, hexOf, indentJson, sha256Of } from '../bytes.ts';
import { Delivery, type DeliveryQuery, Exchange, type ExchangeQuery, Payload, Retry } from '../generated/documents.ts';
import { ResponseLine } from '../last-response.tsx';
import { Link, search, useUrl } from '../location.tsx';
import { gidOf, useMay, useSession } from '../session.ts';
import { timeOf } from '../time.ts';
import { Action } from '../ui/action.tsx';
import { Copy } from '../ui/copy.tsx';
import { Documentation } from '../ui/documentation.tsx';
import { Heading } from '../ui/heading.tsx';
import { Links } from '../ui/links.tsx';
import { Loaded } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Facts } from '../ui/table.tsx';
import { Advice, Visible } from '../ui/text.tsx';
import { Relative, Time } from '../ui/time.tsx';
import { type Query, useQuery } from '../use-query.ts';
import { delayOf, nameOf, numberOf, plural, resultOf, resultTone, sentences, urlOf, wordOf } from '../words.ts';

type DeliveryData = NonNullable<DeliveryQuery['webhookDelivery']>;
type Attempt = DeliveryData['attempts'][number];
type ExchangeData = NonNullable<NonNullable<ExchangeQuery['webhookDelivery']>['attempts'][number]['exchange']>;

export default function DeliveryPage({ number }: { number: string }) {
  const id = gidOf(useSession(), 'WebhookDelivery', number);
  const before = Number(/^\d{1,9}$/.exec(useUrl().params.get('before') ?? '')) || null;
  const [isPending, setPending] = useState(false);
  const query = useQuery(Delivery, { id, before }, isPending ? 5000 : null);
  const status = query.data?.webhookDelivery?.status;
  useEffect(() => setPending(status === 'PENDING'), [status]);
  const found = query.data?.webhookDelivery;
  const title = found ? found.event.type : found === null ? 'No such delivery' : 'Delivery';
  return (
    <>
      <Heading title={title} above={found ? <SubscriptionLink of={found} /> : <Link to="deliveries">Deliveries</Link>}>
        {found && <State value={found.status} />}
        {found && (
          <div className="actions">
            <Resend delivery={found} reload={query.reload} />
          </div>
        )}
      </Heading>
      <Loaded query={query}>{() => found && <Shown delivery={found} />}</Loaded>
    </>
  );
}

/** Unless its subscription is paused. */
function canSend({ status, subscription, payloadDeletion, attempts }: DeliveryData): boolean {
  const hasPayload = status !== 'EXPIRED' && payloadDeletion === null && attempts[0]?.error !== 'RENDERING_FAILED';
  return subscription !== null && hasPayload;
}

/** Absent if nothing would be sent. */
function Resend({ delivery, reload }: { delivery: DeliveryData; reload: () => void }) {
  const { id, status, subscription, delay } = delivery;
  const isPaused = subscription?.status === 'PAUSED';
  return (
    <>
      {isPaused && canSend(delivery) && <span className="soft">It can be sent once the subscription is resumed.</span>}
      <Action
        isOffered={!isPaused && canSend(delivery) && !lastingDelays.includes(delay?.reason)}
        label={status === 'PENDING' ? 'Send now' : 'Resend'}
        about="Its id, sequence and body stay the same: a receiver that has processed it ignores it."
        ability="OPERATE"
        primary={status !== 'DELIVERED'}
        document={Retry}
        variables={() => ({ id })}
        onDone={reload}
        result={({ retryWebhookDelivery: { webhookDelivery } }) => (
          <Answer id={id} after={webhookDelivery?.attemptCount ?? 0} />
        )}
      />
    </>
  );
}

function SubscriptionLink({ of: { subscription, subscriptionId } }: { of: DeliveryData }) {
  return (
    <Link to={`subscriptions/${numberOf(subscriptionId)}`}>{subscription ? nameOf(subscription) : 'Subscription'}</Link>
  );
}

function Shown({ delivery }: { delivery: DeliveryData }) {
  const { id, status, event, isTest, createdAt, delay, attempts } = delivery;
  const { path, params } = useUrl();
  const mayRead = useMay('READ_PAYLOAD');
  const mayOperate = useMay('OPERATE');
  const selected = attempts.find(({ number }) => number === Number(params.get('attempt'))) ?? attempts[0];
  const oldest = attempts.at(-1)?.number ?? 1;
  const query = useQuery(Exchange, mayRead && selected ? { id, before: selected.number + 1 } : null);
  const longestMs = Math.max(...attempts.map(({ durationMs }) => durationMs));
  const read = query.data?.webhookDelivery?.attempts[0];
  const exchange = (read?.number === selected?.number && read?.exchange) || null;
  return (
    <>
      {delay && (
        <div className="why warn">
          <p>
            <b>{delayText(delay)}.</b> <Visible text={delay.message} />{' '}
            {delay.until && <b>{`Next attempt: ${timeOf(delay.until)}, `}</b>}
            {delay.until && <Relative at={delay.until} />}
          </p>
        </div>
      )}
      {status === 'FAILED' && (
        <div className="why bad">
          <p>
            <b>Deedwire no longer tries this delivery.</b>
            {canSend(delivery) && mayOperate && ' Once the endpoint works, press Resend.'}
          </p>
        </div>
      )}
      <Facts
        of={{
          Event: <Time at={event.timestamp} />,
          'Delivery created': <Time at={createdAt} />,
          'Payload version': <code>{event.version}</code>,
          Sequence: `${delivery.sequenceNumber.toLocaleString('en')}${isTest ? ' (test event)' : ''}`,
          'webhook-id': <code>{id}</code>,
          'Event id': <code>{event.eventId}</code>,
        }}
      />
      <h2>{plural(delivery.attemptCount, 'attempt')}</h2>
      <ol className="time">
        {attempts.map((attempt, at) => (
          <li key={attempt.number} aria-current={attempt === selected}>
            <Link to={path + search(params, { attempt: String(attempt.number) })} replace>
              {timeOf(attempt.startedAt)}
            </Link>
            <State value={resultOf(attempt)} tone={resultTone(attempt)} />
            <Duration attempt={attempt} longestMs={longestMs} />
            <span className="num">{attempt.durationMs.toLocaleString('en')} ms</span>
            {attempt.advice !== null && (
              <div className="advice">
                {attempt.advice === attempts[at - 1]?.advice ? 'As above.' : <Advice text={attempt.advice} />}
                {attempt === selected && attempt.responseStatus !== null && exchange && (
                  <ResponseLine response={{ ...attempt, ...exchange }} />
                )}
              </div>
            )}
          </li>
        ))}
      </ol>
      {(delay !== null || attempts.some(({ advice }) => advice !== null)) && (
        <p>
          <Documentation page="webhook-did-not-arrive.md">Help: a webhook did not arrive</Documentation>
        </p>
      )}
      <div className="actions">
        <Links
          of={{
            'Newest attempts': params.has('before') && path,
            'Older attempts': oldest > 1 && path + search(params, { before: String(oldest), attempt: null }),
          }}
        />
      </div>
      {mayRead ? (
        <Contents id={id} attempt={selected} query={query} exchange={exchange} />
      ) : (
        <p>This session may not read what was sent.</p>
      )}
    </>
  );
}

/** What it waits for. It can have been created later. */
function delayText({ reason, since }: NonNullable<DeliveryData['delay']>): string {
  if (since === null) return delayOf(reason);
  if (reason === 'BREAKER_OPEN') return `On hold: the endpoint has failed since ${timeOf(since)}`;
  if (reason === 'PAUSED') return `The subscription has been paused since ${timeOf(since)}`;
  return `${delayOf(reason)} since ${timeOf(since)}`;
}

/** On the scale of the longest attempt of a page, and at least of the 5 seconds that one can take by default. */
function Duration({ attempt, longestMs }: { attempt: Attempt; longestMs: number }) {
  const scaleMs = Math.max(5000, longestMs);
  return (
    <svg
      className={`span ${resultTone(attempt)}`}
      viewBox={`0 0 ${scaleMs} 8`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect className="track" width={scaleMs} height="8" />
      <rect width={Math.max(scaleMs / 250, attempt.durationMs)} height="8" />
    </svg>
  );
}

interface ContentsProps {
  readonly id: string;
  readonly attempt: Attempt | undefined;
  readonly query: Query<ExchangeQuery>;
  /** Of the attempt. Null if it is not known, or was not kept. */
  readonly exchange: ExchangeData | null;
}

/** What an attempt sent and received: separate operations, because a session needs an ability for them. */
function Contents({ id, attempt, query, exchange }: ContentsProps) {
  const { params } = useUrl();
  const payload = useQuery(Payload, { id });
  const sides = ['request', 'response'] as const;
  // Of an attempt that failed, one looks for the response first.
  const first = attempt && resultTone(attempt) === 'bad' ? 'response' : 'request';
  const side = (attempt && sides.find((each) => each === params.get('side'))) ?? first;
  const text = payload.data?.webhookDelivery?.payload;
  const headers = exchange?.requestHeaders.map(({ name, value }) => [name, value] as const) ?? [];
  const curl = exchange?.callbackUrl && text ? curlCommand({ url: exchange.callbackUrl, headers, body: text }) : null;
  return (
    <>
      <h2>{attempt ? `Request and response of ${timeOf(attempt.startedAt)}` : 'Payload'}</h2>
      {exchange && attempt && <Timings exchange={exchange} durationMs={attempt.durationMs} />}
      {attempt && (
        <Tabs name="side" current={side} values={sides}>
          {exchange && (
            <Link to={`verify?delivery=${numberOf(id)}&attempt=${attempt.number}`}>Verify the signature</Link>
          )}
          {curl && <Copy label="Copy as curl" text={curl} />}
        </Tabs>
      )}
      {attempt && (
        <Loaded query={query} empty="Not kept: Deedwire keeps details for 7 days, but not of every first success.">
          {() => exchange && <Headers exchange={exchange} attempt={attempt} side={side} />}
        </Loaded>
      )}
      {side === 'request' && (
        <Loaded query={payload} empty="No payload: it could not be rendered, or is deleted.">
          {() => (text ? <Body body={bytesOfText(text)} name={`delivery-${numberOf(id)}.json`} /> : null)}
        </Loaded>
      )}
      {side === 'response' && exchange && <ResponseBody exchange={exchange} name={`response-${numberOf(id)}`} />}
    </>
  );
}

function Tabs(props: {
  name: string;
  current: string | undefined;
  values: readonly string[];
  children?: ComponentChildren;
}) {
  const { path, params } = useUrl();
  const links = props.values.map((value) => (
    <Link
      key={value}
      to={path + search(params, { [props.name]: value })}
      replace
      aria-current={value === props.current}
    >
      {wordOf(value)}
    </Link>
  ));
  return (
    <nav className="tabs" aria-label={wordOf(props.name)}>
      {links}
      {props.children}
    </nav>
  );
}

function Headers({ exchange, attempt, side }: { exchange: ExchangeData; attempt: Attempt; side: string }) {
  const url = exchange.callbackUrl === null ? null : urlOf(exchange.callbackUrl);
  const target = url ? url.pathname + url.search : '(the callback URL has changed since)';
  const status = attempt.responseStatus === null ? 'No response' : `HTTP/1.1 ${attempt.responseStatus}`;
  const [first, headers] =
    side === 'request' ? [`POST ${target} HTTP/1.1`, exchange.requestHeaders] : [status, exchange.responseHeaders];
  const text = sentences(
    exchange.remoteAddress && `Address: ${exchange.remoteAddress}.`,
    exchange.replayId && `Sent again by replay ${numberOf(exchange.replayId)}.`,
    attempt.error && `${resultOf(attempt)}: the response was not complete.`,
  );
  return (
    <>
      <Visible as="pre" text={[first, ...headers.map(({ name, value }) => `${name}: ${value}`)].join('\n')} />
      <p className="soft">{text}</p>
    </>
  );
}

function ResponseBody({ exchange, name }: { exchange: ExchangeData; name: string }) {
  const { responseBody, responseBodyBase64, responseBytes } = exchange;
  if (responseBody !== null) return <Body body={bytesOfText(responseBody)} name={name} total={responseBytes} />;
  if (responseBodyBase64 !== null)
    return <Body body={bytesOfBase64(responseBodyBase64)} name={name} total={responseBytes} />;
  return (
    <p>{responseBytes === 0 ? 'No body arrived.' : `The body of ${plural(responseBytes, 'byte')} was not kept.`}</p>
  );
}

/** Exact bytes: as text, as hex, or as a file. */
function Body({ body: { bytes, text }, name, total = bytes.length }: { body: Bytes; name: string; total?: number }) {
  const { params } = useUrl();
  const [digest, setDigest] = useState('');
  const key = text ?? bytes.join();
  useEffect(() => {
    void sha256Of(bytes).then(setDigest);
  }, [key]);
  const formatted = text === null ? null : indentJson(text);
  const views = Object.entries({ formatted, text, hex: hexOf(bytes) }).filter(([, shown]) => shown !== null);
  const [view, shown] = views.find(([each]) => each === params.get('view')) ?? views[0] ?? [];
  const download = () => {
    const href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
    Object.assign(document.createElement('a'), { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  };
  const note = sentences(
    bytes.length < total && `The first ${plural(bytes.length, 'byte')} of ${plural(total, 'byte')}.`,
    text === null && 'Not UTF-8.',
    view === 'formatted' && 'Formatted for reading. "Text" shows the exact bytes.',
    'SHA-256',
  );
  return (
    <>
      <Tabs name="view" current={view} values={views.map(([each]) => each)}>
        <button onClick={download}>Download {plural(bytes.length, 'byte')}</button>
      </Tabs>
      <Visible as="pre" text={shown ?? ''} />
      <p className="soft">
        {note} <code>{digest}</code>
      </p>
    </>
  );
}

/** The phases of an attempt, in the order in which they happen. */
function Timings({ exchange, durationMs }: { exchange: ExchangeData; durationMs: number }) {
  const { dnsMs, connectMs, tlsMs, firstByteMs } = exchange;
  const known = Object.entries({ DNS: dnsMs, Connection: connectMs, TLS: tlsMs, Response: firstByteMs });
  const rest = Math.max(0, durationMs - known.reduce((sum, [, ms]) => sum + (ms ?? 0), 0));
  let x = 0;
  const phases = [...known, [firstByteMs === null ? 'No answer' : 'Body', rest] as const].map(([name, ms], at) => {
    x += ms ?? 0;
    const label = `${name} ${ms === null ? '–' : `${ms.toLocaleString('en')} ms`}`;
    return { label, start: x - (ms ?? 0), width: ms ?? 0, className: `phase${at}` };
  });
  return (
    <figure>
      <svg className="span" viewBox={`0 0 ${Math.max(1, x)} 8`} preserveAspectRatio="none" aria-hidden="true">
        {phases.map(({ label, start, ...bar }) => (
          <rect key={label} x={start} height="8" {...bar} />
        ))}
      </svg>
      <figcaption>
        {phases.map(({ label, className }) => (
          <span key={label} className={className}>
            {label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
