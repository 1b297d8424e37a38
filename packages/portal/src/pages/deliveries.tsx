import { Find } from '../find-form.tsx';
import { Choices, Deliveries, type DeliveriesQuery } from '../generated/documents.ts';
import { Link, search, useUrl } from '../location.tsx';
import { RangeForm } from '../range-form.tsx';
import { gidOf, useSession } from '../session.ts';
import { timeOf } from '../time.ts';
import { Input, type Option } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Links } from '../ui/links.tsx';
import { Loaded, Problem } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Table } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { useChanges } from '../use-changes.ts';
import { useQuery } from '../use-query.ts';
import { delayOf, nameOf, numberOf, plural, resultOf, resultTone, wordOf } from '../words.ts';

type Delivery = DeliveriesQuery['webhookDeliveries']['nodes'][number];

const pageSize = 50;
const statuses = ['PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const;
const options: readonly Option[] = [['', 'All'], ...statuses.map((each): Option => [each, wordOf(each)])];

export default function DeliveriesPage() {
  const session = useSession();
  const { params } = useUrl();
  const choices = useQuery(Choices, {});
  const [subscription, record, after] = ['subscription', 'record', 'after'].map((name) => params.get(name));
  const filters = {
    first: pageSize,
    subscriptionId: subscription ? gidOf(session, 'WebhookSubscription', subscription) : null,
    status: statuses.find((status) => status === params.get('status')) ?? null,
    eventType: params.get('type'),
    recordId: record ?? null,
    eventId: params.get('event'),
    since: params.get('since'),
    until: params.get('until'),
  };
  const query = useQuery(Deliveries, { ...filters, after: after ?? null });
  const { pageInfo } = query.data?.webhookDeliveries ?? {};
  const { rows, newer, readAtMs, failed } = useChanges(query, filters, !after && filters.until === null);
  const names = new Map(choices.data?.webhookSubscriptions.nodes.map((each) => [each.id, nameOf(each)]));
  const cells = rows.map((row) => cellsOf(row, subscription ? null : names));
  const [newest, oldest] = [rows[0], rows.at(-1)].map((row) => row && timeOf(row.createdAt));
  const older = pageInfo?.hasNextPage === true && `deliveries${search(params, { after: pageInfo.endCursor })}`;
  const isShort = older && rows.length < pageSize;
  return (
    <>
      <Heading title="Deliveries">
        <Find />
      </Heading>
      <Loaded query={choices}>
        {(data) => (
          <RangeForm choices={data} selects={{ status: ['Status', options] }} onRange={(values) => values}>
            <Input key={record} name="record" label="Record" placeholder="gid://…" defaultValue={record ?? ''} />
            <div className="actions">
              {filters.eventId && (
                <Link to={`deliveries${search(params, { event: null, after: null })}`} title="All events">
                  {`Event ${numberOf(filters.eventId)} ×`}
                </Link>
              )}
              <button>Filter</button>
              <Links of={{ Clear: params.size > 0 && 'deliveries' }} />
            </div>
          </RangeForm>
        )}
      </Loaded>
      <section aria-label="List of deliveries" tabIndex={-1}>
        <div className="actions">
          <div role="status">
            {filters.eventId && rows.length > 1 && <span>Several subscriptions receive this event. </span>}
            {newest && `${plural(rows.length, 'delivery', 'deliveries')}, ${oldest} to ${newest}`}{' '}
            {newer.length > 0 && (
              <button onClick={query.reload}>{`Show ${newer.length}${newer.length === 20 ? '+' : ''} new`}</button>
            )}
          </div>
          {readAtMs !== undefined && (
            <small>
              <span>{`Updated ${timeOf(new Date(readAtMs).toISOString())}`}</span>{' '}
              <button className="link" onClick={query.reload}>
                Refresh
              </button>
            </small>
          )}
        </div>
        {failed?.failure && <Problem failure={failed.failure} retry={failed.reload} />}
        <Loaded query={query}>
          {() => (
            <>
              {cells[0] && <Table head={Object.keys(cells[0])} rows={cells.map((row) => Object.values(row))} />}
              {rows.length === 0 && !older && <p>{params.size > 0 ? 'No deliveries match.' : 'No deliveries yet.'}</p>}
              {isShort && <p>The search stopped after many deliveries. Older ones can match.</p>}
            </>
          )}
        </Loaded>
        <div className="actions">
          <Links of={{ Newest: Boolean(after) && `deliveries${search(params, { after: null })}`, Older: older }} />
        </div>
      </section>
    </>
  );
}

/** @param names of the subscriptions, or null if one is chosen */
function cellsOf(delivery: Delivery, names: ReadonlyMap<string, string> | null) {
  const { id, subscriptionId, sequenceNumber, status, isTest, delay, event, attempts } = delivery;
  const [last] = attempts;
  const name = names && (names.get(subscriptionId) ?? numberOf(subscriptionId));
  return {
    Created: <Time at={delivery.createdAt} />,
    Event: (
      <>
        <Link to={`deliveries/${numberOf(id)}`} translate={false}>
          {event.type}
        </Link>
        <small>{`${event.version} · ${sequenceNumber.toLocaleString('en')}${isTest ? ' · test' : ''}`}</small>
      </>
    ),
    ...(name !== null && {
      Subscription: (
        <div className="name" title={name}>
          <Visible text={name} />
        </div>
      ),
    }),
    Status: (
      <>
        <State value={status} />
        {status === 'PENDING' && delay && <small>{delayText(delay)}</small>}
      </>
    ),
    'Last attempt': last ? (
      <State value={resultOf(last)} tone={resultTone(last)} />
    ) : (
      <span className="soft">None yet</span>
    ),
    Attempts: delivery.attemptCount,
  };
}

/** Not relative to now: no clock runs beside a status that does not. */
function delayText({ reason, until }: NonNullable<Delivery['delay']>): string {
  if (reason === 'RETRY_SCHEDULED' && until) return `due at ${timeOf(until)}`;
  return delayOf(reason);
}
