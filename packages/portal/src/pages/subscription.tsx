import { Bars } from '../bars.tsx';
import { Cause, type Props } from '../cause.tsx';
import * as documents from '../generated/documents.ts';
import { Link } from '../location.tsx';
import { Remedy } from '../remedy.tsx';
import { gidOf, useMay, useSession } from '../session.ts';
import { Failed, HoursTable, LatestAttempts } from '../subscription-history.tsx';
import { TestEvent } from '../test-event.tsx';
import { formatDay, formatRelative, timeOf } from '../time.ts';
import { Action } from '../ui/action.tsx';
import { Copy } from '../ui/copy.tsx';
import { Field, Input, Select } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Links } from '../ui/links.tsx';
import { Loaded, Problem } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Facts, Table } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { Time, useNow } from '../ui/time.tsx';
import { type Query, useQuery } from '../use-query.ts';
import { nameOf, noneCounted, numberOf, resultTone } from '../words.ts';

export default function SubscriptionPage({ number }: { number: string }) {
  const id = gidOf(useSession(), 'WebhookSubscription', number);
  const query = useQuery(documents.Subscription, { id }, 15_000);
  const found = query.data?.webhookSubscription;
  const title = found ? nameOf(found) : found === null ? 'No such subscription' : 'Subscription';
  return (
    <>
      <Heading title={title} above={<Link to="">Subscriptions</Link>}>
        {found && <Actions subscription={found} reload={query.reload} />}
      </Heading>
      <Loaded query={query}>
        {() => found && <Shown subscription={found} reload={query.reload} readAtMs={query.readAtMs ?? 0} />}
      </Loaded>
    </>
  );
}

function Actions({ subscription, reload }: Props) {
  const { id, status, health } = subscription;
  return (
    <>
      <span role="status">
        <State value={health.state} />
      </span>
      <div className="actions">
        <TestEvent
          subscription={subscription}
          types={subscription.eventTypes.map(({ type }) => type)}
          reload={reload}
        />
        <Action
          isOffered={status === 'ACTIVE'}
          label="Pause"
          about="Its events are kept, and sent once it is resumed. An attempt in flight can still arrive."
          ability="OPERATE"
          document={documents.Pause}
          variables={() => ({ id })}
          onDone={reload}
          report={() => status === 'PAUSED' && 'Paused. Its events are kept until you resume.'}
        />
        <Remedy subscription={subscription} reload={reload} isShown={health.state === 'HEALTHY'} />
      </div>
    </>
  );
}

function Shown({ subscription, reload, readAtMs }: Props & { readonly readAtMs: number }) {
  const { id, callbackUrl, timeoutSeconds, requestHeaderName, health, createdAt, statistics } = subscription;
  const deliveries = `deliveries?subscription=${numberOf(id)}`;
  const history = useQuery(documents.SubscriptionHistory, { id }, 30_000);
  const choices = useQuery(documents.Choices, {});
  const egress = choices.data?.webhookEgressAddresses ?? [];
  const found = history.data?.webhookSubscription;
  const isUnused = found?.newest.nodes.length === 0;
  const [delivered] = found?.delivered.nodes[0]?.attempts ?? [];
  // The counts can miss the last minute, and the newest delivery is not always the last one that was delivered.
  const deliveredAt = [health.lastDeliveredAt, delivered && resultTone(delivered) === 'good' && delivered.startedAt]
    .filter((at) => typeof at === 'string')
    .toSorted()
    .at(-1);
  return (
    <>
      <Cause subscription={subscription} reload={reload} />
      <Facts
        of={{
          'Callback URL': <Visible as="code" text={callbackUrl} />,
          Timeout: `${timeoutSeconds} s`,
          Pending: `${health.pendingCount.toLocaleString('en')}${health.pendingCountIsLowerBound ? '+' : ''}`,
          'Waiting since': health.oldestPendingAt ? <Time at={health.oldestPendingAt} /> : '–',
          Failed: found ? (
            <Failed history={found} number={numberOf(id)} readAtMs={history.readAtMs ?? readAtMs} />
          ) : (
            '…'
          ),
          'Last delivered': deliveredAt ? (
            <Time at={deliveredAt} />
          ) : isUnused ? (
            'No deliveries yet'
          ) : (
            noneCounted(createdAt, readAtMs)
          ),
          Created: <Time at={createdAt} />,
          ...(egress.length > 0 && { 'Requests come from': <Visible as="code" text={egress.join(', ')} /> }),
        }}
      />
      <div className="actions">
        <Links of={{ 'See deliveries': deliveries, Resend: `recover?subscription=${numberOf(id)}` }} />
        <Action
          label="Change the URL"
          about={`Deedwire sends a signed handshake to the new URL first. If it fails, nothing changes.${requestHeaderName ? ' A URL with another scheme, host or port drops the request header: set it again afterwards.' : ''}`}
          ability="CONFIGURE"
          document={documents.Update}
          variables={({ callbackUrl: url = '' }) => ({ input: { id, callbackUrl: url } })}
          onDone={reload}
          result={() => <p>The new URL passed the handshake. Deliveries go there from now on.</p>}
        >
          <Field
            name="callbackUrl"
            label="Callback URL"
            control={
              <input
                name="callbackUrl"
                type="url"
                autocomplete="off"
                spellcheck={false}
                required
                maxLength={2048}
                defaultValue={callbackUrl}
              />
            }
          />
        </Action>
        <Action
          label="Change the timeout"
          about="How long Deedwire waits for a complete response before it fails the attempt and retries. Raise it only if the endpoint cannot store the event and respond at once."
          ability="CONFIGURE"
          document={documents.Update}
          variables={({ timeoutSeconds: seconds }) => ({ input: { id, timeoutSeconds: Number(seconds) } })}
          onDone={reload}
          report={({ updateWebhookSubscription: { webhookSubscription } }) =>
            webhookSubscription && 'The timeout is changed. Attempts in flight keep the earlier one.'
          }
        >
          <Field
            name="timeoutSeconds"
            label="Seconds, 5 to 15"
            control={
              <input
                name="timeoutSeconds"
                type="number"
                min={5}
                max={15}
                required
                defaultValue={String(timeoutSeconds)}
              />
            }
          />
        </Action>
      </div>
      <h2>Last 24 hours</h2>
      <Bars hours={statistics} readAtMs={readAtMs} />
      <HoursTable hours={statistics} />
      <h2>Latest attempts</h2>
      <Loaded query={history}>
        {() =>
          found && <LatestAttempts id={id} history={found} failedId={health.lastFailure?.deliveryId} at={deliveredAt} />
        }
      </Loaded>
      <Pins subscription={subscription} reload={reload} choices={choices} />
      <Secret subscription={subscription} reload={reload} />
      <RequestHeader subscription={subscription} reload={reload} />
    </>
  );
}

interface ChoicesProps extends Props {
  readonly choices: Query<documents.ChoicesQuery>;
}

function Pins({ subscription: { id, eventTypes }, choices }: ChoicesProps) {
  const types = choices.data?.webhookEventTypes;
  const rows = eventTypes.map(({ type, version }) => {
    const { versions = [] } = types?.find((each) => each.type === type) ?? {};
    const pinned = versions.find((each) => each.version === version);
    return [
      <Link to={`deliveries?subscription=${numberOf(id)}&type=${encodeURIComponent(type)}`} translate={false}>
        {type}
      </Link>,
      <>
        <code>{version}</code>{' '}
        {versions.some((each) => each.version !== version) && (
          <Link to={`subscriptions/${numberOf(id)}/pin?type=${encodeURIComponent(type)}`}>Change</Link>
        )}
      </>,
      // Once the types are known, a version that they do not list is retired.
      types && <State value={pinned?.status ?? 'RETIRED'} />,
      pinned?.sunsetOn ? formatDay(pinned.sunsetOn) : types && '–',
    ];
  });
  return (
    <>
      <h2>Event types</h2>
      {choices.failure && <Problem failure={choices.failure} retry={choices.reload} />}
      <Table head={['Type', 'Version', 'Status', 'Ends']} rows={rows} />
    </>
  );
}

const overlaps = [
  ['86400', '1 day'],
  ['3600', '1 hour'],
  ['604800', '7 days'],
  ['0', 'None: the old secret ends at once'],
] as const;

function Secret({ subscription: { id, rotation }, reload }: Props) {
  const mayRead = useMay('READ_PAYLOAD');
  const now = useNow(10_000);
  const startMs = Date.parse(rotation?.startedAt ?? '');
  const left = rotation && `until ${timeOf(rotation.endsAt)}, ${formatRelative(rotation.endsAt, now)}`;
  return (
    <>
      <h2>Secret</h2>
      <p>
        {left
          ? `Two secrets sign ${left}. Give the receiver the new one.`
          : 'Signed with one secret. It cannot be shown again.'}
      </p>
      {rotation && <progress aria-label="Overlap" max={Date.parse(rotation.endsAt) - startMs} value={now - startMs} />}
      {mayRead ? (
        <Action
          label="Rotate the secret"
          about="During the overlap, the old and the new secret sign, so a receiver with either of them can verify."
          ability="CONFIGURE"
          document={documents.Rotate}
          variables={({ webhookSecret, overlapSeconds }, idempotencyKey) => ({
            input: { id, overlapSeconds: Number(overlapSeconds), webhookSecret: webhookSecret || null, idempotencyKey },
          })}
          onDone={reload}
          result={({ rotateWebhookSecret: { webhookSecret } }) => (
            <>
              <p>The new secret signs now. Store it: it is not shown again.</p>
              <pre>{webhookSecret}</pre>
              <Copy text={webhookSecret ?? ''} />
            </>
          )}
        >
          <Select
            name="overlapSeconds"
            label="Overlap"
            options={rotation ? overlaps.filter(([seconds]) => seconds === '0') : overlaps}
          />
          <Input
            name="webhookSecret"
            label="New secret, or empty: Deedwire generates one"
            placeholder="whsec_…"
            pattern="whsec_[A-Za-z0-9+\/]{32,86}={0,2}"
            title="whsec_ and the base64 of 24 to 64 bytes"
          />
        </Action>
      ) : (
        <p className="soft">To rotate it, a session has to read payloads too: the response has the new secret.</p>
      )}
    </>
  );
}

function RequestHeader({ subscription, reload }: Props) {
  const { id, callbackUrl, requestHeaderName: name, headerState } = subscription;
  const isDropped = headerState === 'DROPPED';
  const set = name ? 'Replace the header' : 'Set a header';
  return (
    <>
      <h2>Request header</h2>
      <p>
        {name ? (
          <>
            <Visible as="code" text={name} />{' '}
            {isDropped
              ? 'is not sent: the scheme, host or port of the callback URL has changed since it was set. Check the callback URL. Then replace the header, or remove it.'
              : 'is sent with every request. Its value cannot be shown.'}
          </>
        ) : (
          'None. A gateway in front of the endpoint can need one.'
        )}
      </p>
      <div className="actions">
        <Action
          label={set}
          about={`Deedwire sends it with every request to ${new URL(callbackUrl).origin}, and shows its value nowhere. Send a test event afterwards.`}
          ability="CONFIGURE"
          document={documents.Update}
          variables={({ headerName = '', headerValue = '' }) => ({
            // The URL that the page shows: the header is for no other one, even if the subscription has moved since.
            input: { id, callbackUrl, requestHeader: { name: headerName, value: headerValue } },
          })}
          onDone={reload}
          report={({ updateWebhookSubscription: { webhookSubscription } }) =>
            webhookSubscription && 'The header is set. Attempts in flight do not have it.'
          }
        >
          <Input
            name="headerName"
            label="Name"
            required
            maxLength={100}
            placeholder="Authorization"
            pattern="[Aa]uthorization|[Xx]-[A-Za-z0-9][A-Za-z0-9_\-]*"
            title="Authorization, or X- followed by letters, digits, - and _"
            defaultValue={name ?? ''}
          />
          <Input
            name="headerValue"
            label="Value"
            required
            maxLength={4096}
            pattern="[!-~]([ -~]*[!-~])?"
            title="Printable ASCII characters, and spaces between them"
          />
        </Action>
        <Action
          isOffered={Boolean(name)}
          label="Remove the header"
          about="Requests are sent without it from now on."
          ability="CONFIGURE"
          document={documents.Update}
          variables={() => ({ input: { id, requestHeader: null } })}
          onDone={reload}
          report={({ updateWebhookSubscription: { webhookSubscription } }) =>
            webhookSubscription && 'The header is removed. Attempts in flight can still have it.'
          }
        />
      </div>
    </>
  );
}
