import { Find } from '../find-form.tsx';
import { Choices, Deliveries, type DeliveriesQuery } from '../generated/documents.ts';
import { Link, search, useUrl } from '../location.tsx';
import { RangeForm } from '../range-form.tsx';
import { gidOf, useSession } from '../session.ts';
import { Input, type Option } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Links } from '../ui/links.tsx';
import { Loaded } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Table } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { Relative, Time } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { nameOf, numberOf, resultOf, resultTone, wordOf } from '../words.ts';

const pageSize = 50;
const statuses = ['PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const;
const options: readonly Option[] = [['', 'All'], ...statuses.map((each): Option => [each, wordOf(each)])];
const head = ['Created', 'Event', 'Subscription', 'Status', 'Last attempt', 'Attempts'];

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
    since: params.get('since'),
    until: params.get('until'),
  };
  const query = useQuery(Deliveries, { ...filters, after: after ?? null });
  const { nodes = [], pageInfo } = query.data?.webhookDeliveries ?? {};
  // Newer ones are counted, and shown on request: rows must not move under a pointer.
  const isNewest = pageInfo && !after && filters.until === null;
  const since = nodes[0]?.createdAt ?? filters.since;
  const { data: latest } = useQuery(Deliveries, isNewest ? { ...filters, first: 20, since } : null, 15_000);
  const newer = latest?.webhookDeliveries.nodes.filter(({ id }) => !nodes.some((node) => node.id === id)).length ?? 0;
  const names = new Map(choices.data?.webhookSubscriptions.nodes.map((each) => [each.id, nameOf(each)]));
  const older = pageInfo?.hasNextPage === true && `deliveries${search(params, { after: pageInfo.endCursor })}`;
  const isShort = older && nodes.length < pageSize;
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
              <button>Filter</button>
              <Links of={{ Clear: params.size > 0 && 'deliveries' }} />
            </div>
          </RangeForm>
        )}
      </Loaded>
      <p role="status">
        {newer > 0 && <button onClick={query.reload}>{`${newer}${newer === 20 ? '+' : ''} newer: show`}</button>}
      </p>
      <Loaded query={query}>
        {() => (
          <>
            {nodes.length > 0 && <Table head={head} rows={nodes.map((node) => cellsOf(node, names))} />}
            {nodes.length === 0 && !older && <p>No delivery {params.size > 0 ? 'matches' : 'yet'}.</p>}
            {isShort && <p>The search stopped after many deliveries. Older ones can match.</p>}
          </>
        )}
      </Loaded>
      <div className="actions">
        <Links of={{ Newest: Boolean(after) && `deliveries${search(params, { after: null })}`, Older: older }} />
      </div>
    </>
  );
}

function cellsOf(delivery: DeliveriesQuery['webhookDeliveries']['nodes'][number], names: ReadonlyMap<string, string>) {
  const { id, subscriptionId, sequenceNumber, status, isTest, nextAttemptAt, event, attempts } = delivery;
  const [last] = attempts;
  return [
    <Time at={delivery.createdAt} />,
    <>
      <Link to={`deliveries/${numberOf(id)}`}>{event.type}</Link>
      <small>{`${event.version} · ${sequenceNumber.toLocaleString('en')}${isTest ? ' · test' : ''}`}</small>
    </>,
    <Visible text={names.get(subscriptionId) ?? numberOf(subscriptionId)} />,
    <>
      <State value={status} />
      {status === 'PENDING' && nextAttemptAt && (
        <small>
          due <Relative at={nextAttemptAt} />
        </small>
      )}
    </>,
    last ? <State value={resultOf(last)} tone={resultTone(last)} /> : <span className="soft">None yet</span>,
    delivery.attemptCount,
  ];
}
