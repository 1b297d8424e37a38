import type { ChangeEvent } from 'react';
import { gidOf, useQuery, useSession } from '../api.ts';
import { Find } from '../find-form.tsx';
import { Choices, Deliveries, type DeliveriesQuery, type DeliveriesQueryVariables } from '../generated/documents.ts';
import { go, Link, search, useUrl } from '../location.tsx';
import { fromLocalInput, toLocalInput } from '../time.ts';
import {
  Heading,
  Input,
  Links,
  Loaded,
  onSubmit,
  Relative,
  Select,
  State,
  Table,
  Time,
  type Values,
  Visible,
} from '../ui.tsx';
import { nameOf, numberOf, resultOf, resultTone, wordOf } from '../words.ts';

const pageSize = 50;
const statuses = ['PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const;
const all = ['', 'All'] as const;
const head = ['Created', 'Event', 'Subscription', 'Status', 'Last attempt', 'Attempts'];

const change = (event: ChangeEvent<HTMLSelectElement>) => event.currentTarget.form?.requestSubmit();

export default function DeliveriesPage() {
  const session = useSession();
  const { params } = useUrl();
  const choices = useQuery(Choices, {}).data;
  const value = (name: string) => params.get(name) ?? '';
  const subscription = params.get('subscription');
  const filters: DeliveriesQueryVariables = {
    first: pageSize,
    subscriptionId: subscription && gidOf(session, 'WebhookSubscription', subscription),
    status: statuses.find((status) => status === params.get('status')) ?? null,
    eventType: params.get('type'),
    recordId: params.get('record'),
    since: params.get('since'),
    until: params.get('until'),
  };
  const after = params.get('after');
  const query = useQuery(Deliveries, { ...filters, after });
  const { nodes = [], pageInfo } = query.data?.webhookDeliveries ?? {};
  // Newer ones are counted, and shown on request: rows must not move under a pointer.
  const isNewest = pageInfo && after === null && filters.until === null;
  const since = nodes[0]?.createdAt ?? filters.since ?? null;
  const { data: latest } = useQuery(Deliveries, isNewest ? { ...filters, first: 20, since } : null, 15_000);
  const newer = latest?.webhookDeliveries.nodes.filter(({ id }) => !nodes.some((node) => node.id === id)).length ?? 0;
  const names = new Map(choices?.webhookSubscriptions.nodes.map((each) => [numberOf(each.id), nameOf(each)]));

  const filter = (values: Values) => {
    const times = { since: fromLocalInput(values['since']), until: fromLocalInput(values['until']) };
    go(`deliveries${search(params, { ...values, ...times, after: null })}`);
  };

  return (
    <>
      <Heading title="Deliveries" children={<Find />} />
      <form className="filters" key={`${params} ${choices === undefined}`} onSubmit={onSubmit(filter)}>
        <Select
          name="status"
          label="Status"
          value={value('status')}
          onChange={change}
          options={[all, ...statuses.map((each) => [each, wordOf(each)] as const)]}
        />
        <Select
          name="type"
          label="Event type"
          value={value('type')}
          onChange={change}
          options={[all, ...(choices?.webhookEventTypes ?? []).map(({ type }) => [type, type] as const)]}
        />
        <Select
          name="subscription"
          label="Subscription"
          value={value('subscription')}
          onChange={change}
          options={[all, ...names]}
        />
        <Input name="since" label="Since" type="datetime-local" defaultValue={toLocalInput(params.get('since'))} />
        <Input name="until" label="Until" type="datetime-local" defaultValue={toLocalInput(params.get('until'))} />
        <Input name="record" label="Record" placeholder="gid://…" defaultValue={value('record')} />
        <div className="actions">
          <button>Filter</button>
          <Links of={{ Clear: params.size > 0 && 'deliveries' }} />
        </div>
      </form>
      {newer > 0 && (
        <button
          role="status"
          className="newer"
          onClick={query.reload}
          children={`${newer}${newer === 20 ? '+' : ''} newer: show`}
        />
      )}
      <Loaded query={query}>
        {() => (
          <>
            {nodes.length > 0 && <Table head={head} rows={nodes.map((node) => cellsOf(node, names))} />}
            {nodes.length === 0 && !pageInfo?.hasNextPage && <p>No delivery {params.size > 0 ? 'matches' : 'yet'}.</p>}
            {nodes.length < pageSize && pageInfo?.hasNextPage && (
              <p>The search stopped after many deliveries. Older ones can match.</p>
            )}
            <div className="actions">
              <Links
                of={{
                  Newest: after !== null && `deliveries${search(params, { after: null })}`,
                  Older: pageInfo?.hasNextPage === true && `deliveries${search(params, { after: pageInfo.endCursor })}`,
                }}
              />
            </div>
          </>
        )}
      </Loaded>
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
    <Visible text={names.get(numberOf(subscriptionId)) ?? numberOf(subscriptionId)} />,
    <>
      <State value={status} />
      {status === 'PENDING' && nextAttemptAt && (
        <small>
          next <Relative at={nextAttemptAt} />
        </small>
      )}
    </>,
    last ? <State value={resultOf(last)} tone={resultTone(last)} /> : <span className="soft">None yet</span>,
    delivery.attemptCount,
  ];
}
