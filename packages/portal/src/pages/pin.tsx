import { useEffect, useState } from 'preact/hooks';
import type { Props } from '../cause.tsx';
import * as documents from '../generated/documents.ts';
import { go, Link, search, useUrl } from '../location.tsx';
import { type Difference, differencesOf } from '../payload-differences.ts';
import { Failure, send } from '../request.ts';
import { gidOf, useMay, useSession } from '../session.ts';
import { TestEvent } from '../test-event.tsx';
import { formatDay } from '../time.ts';
import { Action } from '../ui/action.tsx';
import { Select } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Facts, Table } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { nameOf, numberOf, plural, sentences, wordOf } from '../words.ts';

type Types = documents.ChoicesQuery['webhookEventTypes'];
type Delivery = documents.DeliveriesQuery['webhookDeliveries']['nodes'][number];

/** The type and the new version are in the URL. */
export default function PinPage({ number }: { number: string }) {
  const id = gidOf(useSession(), 'WebhookSubscription', number);
  const query = useQuery(documents.Subscription, { id }, 15_000);
  const types = useQuery(documents.Choices, {});
  const found = query.data?.webhookSubscription;
  return (
    <>
      <Heading
        title={found === null ? 'No such subscription' : 'Change payload version'}
        above={found && <Link to={`subscriptions/${number}`}>{nameOf(found)}</Link>}
      />
      <Loaded query={query}>
        {() =>
          found && (
            <>
              <p>
                Each event type has a payload version. See what another version changes in your own events before you
                change to it.
              </p>
              <Loaded query={types}>
                {(data) => <Choice subscription={found} reload={query.reload} types={data.webhookEventTypes} />}
              </Loaded>
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Choice({ subscription, reload, types }: Props & { types: Types }) {
  const { path, params } = useUrl();
  const versionsOf = (type: string) => types.find((each) => each.type === type)?.versions ?? [];
  const changeable = subscription.eventTypes.filter((pin) =>
    versionsOf(pin.type).some(({ version }) => version !== pin.version),
  );
  const pin = changeable.find(({ type }) => type === params.get('type')) ?? changeable[0];
  if (pin === undefined) return <p>There is no other version of an event type that this subscription receives.</p>;
  const others = versionsOf(pin.type).filter(({ version }) => version !== pin.version);
  const target = others.find(({ version }) => version === params.get('version')) ?? others.at(-1);
  const change = (name: string) => (event: { currentTarget: { value: string } }) =>
    go(path + search(params, { version: null, [name]: event.currentTarget.value }));
  if (target === undefined) return null;
  return (
    <>
      <div className="filters">
        <Select
          label="Event type"
          value={pin.type}
          options={changeable.map(({ type }) => [type, type])}
          onChange={change('type')}
        />
        <Select
          label="New version"
          value={target.version}
          options={others.map(({ version, status }) => [version, `${version} (${wordOf(status)})`])}
          onChange={change('version')}
        />
      </div>
      <ChangeVersion
        key={pin.type}
        subscription={subscription}
        reload={reload}
        pin={pin}
        target={target}
        status={versionsOf(pin.type).find(({ version }) => version === pin.version)?.status ?? 'RETIRED'}
      />
    </>
  );
}

interface ChangeProps extends Props {
  readonly pin: { readonly type: string; readonly version: string };
  readonly target: Types[number]['versions'][number];
  /** Of the version that is pinned. */
  readonly status: string;
}

function ChangeVersion({ subscription, reload, pin: { type, version: pinned }, target, status }: ChangeProps) {
  const { id, pausedReason } = subscription;
  const { path, params } = useUrl();
  const { version, sunsetOn } = target;
  const isBack = version < pinned;
  const changed = () => {
    // The way back: the page now compares with the version that was pinned.
    go(path + search(params, { type, version: pinned }), true);
    reload();
  };
  return (
    <>
      <Facts
        of={{
          'Current version': <Version version={pinned} status={status} />,
          'New version': <Version version={version} status={target.status} />,
          'Ends on': sunsetOn === null ? 'No end is planned' : formatDay(sunsetOn),
        }}
      />
      <div className="actions">
        <Action
          label={`Change ${isBack ? 'back ' : ''}to ${version}`}
          about={sentences(
            `New deliveries of ${type} use ${version}. Existing ones keep their version. Your endpoint has to handle both.`,
            status === 'RETIRED' && `You cannot change back: ${pinned} has ended.`,
            pausedReason === 'VERSION_RETIRED' &&
              'Deliveries resume, unless another version of this subscription has ended too.',
          )}
          ability="CONFIGURE"
          primary
          document={documents.Update}
          variables={async () => {
            // The list replaces the present one, which others can have changed since this page was loaded. A type that is added or
            // removed between these two requests is not kept; a pin that is moved is.
            const { webhookSubscription: now } = await send(documents.Subscription, { id });
            const types = now?.eventTypes ?? [];
            if (!types.some((each) => each.type === type && each.version === pinned)) {
              const message = `The version of ${type} was changed in the meantime. Reload this page and compare again.`;
              throw new Failure(message, { status: 0, code: 'PIN_CHANGED' });
            }
            // Without a version, a type keeps its pin.
            const eventTypes = types.map((each) => (each.type === type ? { type, version } : { type: each.type }));
            return { input: { id, eventTypes } };
          }}
          onDone={changed}
          report={({ updateWebhookSubscription: { webhookSubscription: now } }) =>
            `Changed: new deliveries use ${now?.eventTypes.find((each) => each.type === type)?.version}.`
          }
        />
        <TestEvent subscription={subscription} types={[type]} reload={reload} />
      </div>
      <p className="soft">
        {subscription.status === 'PAUSED'
          ? 'The subscription is paused: Deedwire sends nothing, not even a test event.'
          : `A test event uses the current version: ${pinned}.`}
      </p>
      <Changes type={type} pinned={pinned} version={version} />
      {isBack && <p className="soft">Changing back undoes these changes: what was added is removed.</p>}
      <Events subscriptionId={id} type={type} pinned={pinned} version={version} />
    </>
  );
}

function Version({ version, status }: { version: string; status: string }) {
  return (
    <>
      <code>{version}</code> <State value={status} />
    </>
  );
}

interface Versions {
  readonly type: string;
  readonly pinned: string;
  readonly version: string;
}

/** As the server writes it, for each pair of versions. */
type PayloadChange = Pick<Difference, 'path' | 'before' | 'after'>;

function Changes({ type, pinned, version }: Versions) {
  const [from = '', to = ''] = [pinned, version].toSorted();
  const [changes, setChanges] = useState<Record<string, PayloadChange[]> | null | undefined>();
  useEffect(() => void readChanges().then(setChanges, () => setChanges(null)), []);
  const rows = changes?.[`${type} ${from} ${to}`]?.map(({ path, before, after }) => [
    <State value={before === null ? 'ADDED' : after === null ? 'REMOVED' : 'CHANGED'} />,
    <code>{path}</code>,
    before ?? '–',
    after ?? '–',
  ]);
  return (
    <>
      <h2>{`What the contract changes from ${from} to ${to}`}</h2>
      {changes === null && <p>The changes could not be loaded. Reload this page to try again.</p>}
      {rows?.length === 0 && <p>No field changes.</p>}
      {rows !== undefined && rows.length > 0 && (
        <div className="sides">
          <Table head={['Change', 'Field', from, to]} rows={rows} />
        </div>
      )}
    </>
  );
}

async function readChanges(): Promise<Record<string, PayloadChange[]>> {
  const path = document.querySelector<HTMLMetaElement>('meta[name="payload-changes"]')?.content ?? '';
  const response = await fetch(path);
  if (!response.ok) throw new Error(String(response.status));
  return await response.json();
}

function Events({ subscriptionId, type, pinned, version }: Versions & { subscriptionId: string }) {
  const mayRead = useMay('READ_PAYLOAD');
  const query = useQuery(documents.Deliveries, mayRead ? { subscriptionId, eventType: type, first: 20 } : null, 15_000);
  return (
    <>
      <h2>Your last 20 events</h2>
      {mayRead ? (
        <Loaded query={query}>
          {({ webhookDeliveries: { nodes, pageInfo } }) => (
            <>
              {nodes.map((each, at) => (
                <Event key={each.id} delivery={each} pinned={pinned} version={version} isFirst={at === 0} />
              ))}
              {nodes.length === 0 && <p>There is no event of this type to compare. Send a test event.</p>}
              {nodes.length < 20 && pageInfo.hasNextPage && (
                <p className="soft">The search stopped after many deliveries. Older events are not shown.</p>
              )}
            </>
          )}
        </Loaded>
      ) : (
        <p>This session may not read payloads.</p>
      )}
    </>
  );
}

type EventProps = Pick<Versions, 'pinned' | 'version'> & { delivery: Delivery; isFirst: boolean };

/** It is compared once it is opened: each comparison costs points. */
function Event({ delivery: { id, event, isTest }, pinned, version, isFirst }: EventProps) {
  const [isOpen, setOpen] = useState(isFirst);
  // What was sent is one side, and a preview the other.
  const isAfter = event.version === version;
  const query = useQuery(documents.Compare, isOpen ? { id, version: isAfter ? pinned : version } : null);
  const versions = [isAfter ? pinned : event.version, version] as const;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Time at={event.timestamp} /> {isTest && 'Test event, '}sent at {event.version}
      </summary>
      {isOpen && (
        <Loaded query={query} empty="The delivery is no longer kept.">
          {({ webhookDelivery: found }) => {
            if (found === null) return null;
            const { payload, preview } = found;
            if (payload === null)
              return <p>Deedwire sent no payload of this event, or its retention period has ended.</p>;
            if (preview === null)
              return (
                <div className="why bad">
                  <p>
                    Deedwire cannot send this event as <b>{isAfter ? pinned : version}</b>: its data lacks what that
                    version needs.
                  </p>
                </div>
              );
            return <Sides sides={isAfter ? [preview, payload] : [payload, preview]} versions={versions} />;
          }}
        </Loaded>
      )}
      <Link to={`deliveries/${numberOf(id)}`}>View delivery</Link>
    </details>
  );
}

const rowsShown = 100;

function Sides({ sides: [before, after], versions }: { sides: [string, string]; versions: readonly [string, string] }) {
  const [count, setCount] = useState(rowsShown);
  const values = differencesOf(before, after).filter(({ path }) => path !== 'version');
  const all = values.filter(({ mark }) => mark !== 'SAME');
  const rows = all
    .slice(0, count)
    .map(({ path, mark, before: old, after: next }) => [
      <State value={mark} />,
      <Visible as="code" text={path} />,
      old === null ? '–' : <Visible as="code" text={old} />,
      next === null ? '–' : <Visible as="code" text={next} />,
    ]);
  return (
    <>
      <p className="soft">{`${plural(all.length, 'difference')}, ${plural(values.length - all.length, 'value')} the same.`}</p>
      {rows.length > 0 && (
        <div className="sides">
          <Table head={['Change', 'Field', ...versions]} rows={rows} />
        </div>
      )}
      {all.length > count && <button onClick={() => setCount(count + 1000)}>Show more of {all.length}</button>}
    </>
  );
}
