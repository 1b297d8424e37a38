import { requestHeaders } from '@deedwire/core/header-names';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Bars } from '../bars.tsx';
import { Cause } from '../cause.tsx';
import { Find } from '../find-form.tsx';
import {
  Choices,
  KeptDeliveries,
  Subscriptions,
  type ChoicesQuery,
  type KeptDeliveriesQuery,
  type SubscriptionFieldsFragment,
} from '../generated/documents.ts';
import { Link } from '../location.tsx';
import { base, service } from '../session.ts';
import { formatDay, minuteOf } from '../time.ts';
import { Copy } from '../ui/copy.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded, Problem } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Visible } from '../ui/text.tsx';
import { Relative } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { atLeast, nameOf, noneCounted, numberOf, wordOf } from '../words.ts';

export default function SubscriptionsPage() {
  const query = useQuery(Subscriptions, {}, 30_000);
  const choices = useQuery(Choices, {});
  const types = choices.data?.webhookEventTypes;
  return (
    <>
      <Heading title="Subscriptions">
        <Find />
      </Heading>
      {choices.failure && <Problem failure={choices.failure} retry={choices.reload} />}
      <Loaded query={query}>
        {({ webhookSubscriptions: { nodes } }) => (
          <>
            {nodes.length === 0 && choices.data && <Subscribe choices={choices.data} />}
            {nodes.length > 0 && (
              <List nodes={nodes} types={types} reload={query.reload} readAtMs={query.readAtMs ?? 0} />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

/** Those that need somebody first. */
const states: readonly string[] = ['FAILING', 'RETRYING', 'PAUSED', 'HEALTHY'];

function rankOf({ health: { state } }: SubscriptionFieldsFragment): number {
  return states.includes(state) ? states.indexOf(state) : states.length;
}

/** The identifiers by state, and those of the same state as they are. */
function orderOf(nodes: readonly SubscriptionFieldsFragment[]): string[] {
  return nodes.toSorted((a, b) => rankOf(a) - rankOf(b)).map(({ id }) => id);
}

/** Of so many subscriptions with a response that is no success, the page shows it: each takes a query. */
const responsesMax = 5;

interface ListProps {
  readonly nodes: readonly SubscriptionFieldsFragment[];
  readonly types: RowProps['types'];
  readonly reload: () => void;
  readonly readAtMs: number;
}

/** Does not change its order while somebody points at it. */
function List({ nodes, types, reload, readAtMs }: ListProps) {
  const [order, setOrder] = useState(() => orderOf(nodes));
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!list.current?.matches(':hover, :focus-within')) setOrder(orderOf(nodes));
  }, [nodes]);
  const kept = useQuery(KeptDeliveries, {}, 120_000).data?.webhookSubscriptions.nodes;
  const shown = nodes.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  const asked = shown.filter(({ health }) => health.lastFailure?.error === null).slice(0, responsesMax);
  const [failing = 0, ...others] = states.map((state) => nodes.filter(({ health }) => health.state === state).length);
  const summary = [
    `${failing} of ${nodes.length} failing`,
    ...others.flatMap((count, at) => (count > 0 ? [`${count} ${wordOf(states[at + 1] ?? '').toLowerCase()}`] : [])),
  ];
  return (
    <>
      <p role="status" className={failing > 0 ? 'bad' : 'soft'}>
        {summary.join(' · ')}
      </p>
      <div ref={list}>
        {shown.map((each) => (
          <Row
            key={each.id}
            subscription={each}
            kept={kept?.find(({ id }) => id === each.id)}
            response={asked.includes(each)}
            types={types}
            reload={reload}
            readAtMs={readAtMs}
          />
        ))}
      </div>
    </>
  );
}

interface RowProps {
  readonly subscription: SubscriptionFieldsFragment;
  /** Undefined while it is not known. */
  readonly kept: KeptDeliveriesQuery['webhookSubscriptions']['nodes'][number] | undefined;
  /** Whether to read what the endpoint responded. */
  readonly response: boolean;
  readonly types: ChoicesQuery['webhookEventTypes'] | undefined;
  readonly reload: () => void;
  readonly readAtMs: number;
}

function Row({ subscription, kept, response, types = [], reload, readAtMs }: RowProps) {
  const { id, callbackUrl, createdAt, health, statistics, eventTypes } = subscription;
  const { pendingCount, pendingCountIsLowerBound, oldestPendingAt, lastDeliveredAt } = health;
  const ending = eventTypes.flatMap(({ type, version }) => {
    const { sunsetOn } =
      types.find((each) => each.type === type)?.versions.find((each) => each.version === version) ?? {};
    return sunsetOn ? [`${type} ${version} ends on ${formatDay(sunsetOn)}`] : [];
  });
  return (
    <section className="sub">
      <div>
        <h2>
          <Link to={`subscriptions/${numberOf(id)}`}>{nameOf(subscription)}</Link>
        </h2>
        <Visible as="code" text={callbackUrl} />
      </div>
      <State value={health.state} />
      <Bars hours={statistics} readAtMs={readAtMs} />
      <div className="num">
        {`${pendingCount.toLocaleString('en')}${pendingCountIsLowerBound ? '+' : ''} pending`}
        <small>
          {oldestPendingAt && `waiting since ${minuteOf(oldestPendingAt)}`}
          {!oldestPendingAt &&
            !lastDeliveredAt &&
            (kept?.newest.nodes.length === 0
              ? 'no deliveries yet'
              : `last delivered: ${noneCounted(createdAt, readAtMs).toLowerCase()}`)}
          {!oldestPendingAt && lastDeliveredAt && (
            <>
              delivered <Relative at={lastDeliveredAt} />
            </>
          )}
        </small>
        {kept && kept.failed.nodes.length > 0 && (
          <small>
            {`${atLeast(kept.failed)} failed `}
            <Link to={`recover?subscription=${numberOf(id)}&what=failed`}>Resend</Link>
          </small>
        )}
      </div>
      <Cause subscription={subscription} reload={reload} response={response} />
      {ending.length > 0 && <p className="all soft">{ending.join(' · ')}</p>}
    </section>
  );
}

const mutation =
  'mutation Subscribe($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) ' +
  '{ webhookSubscription { id } webhookSecret userErrors { code message } } }';

/** How to subscribe. It needs the key of the account, which the portal does not have. */
function Subscribe({ choices }: { choices: ChoicesQuery }) {
  const {
    webhookEventTypes: [first],
    webhookEgressAddresses: egress,
  } = choices;
  const input = { callbackUrl: 'https://example.com/webhooks', eventTypes: [{ type: first?.type }] };
  const command = [
    `curl -sS ${location.origin}${base.replace(/portal.*/, 'graphql')}`,
    `-H 'Content-Type: application/json'`,
    `-H "${requestHeaders(service).clientId}: $CLIENT_ID"`,
    `-H "${requestHeaders(service).apiKey}: $API_KEY"`,
    `-H "${requestHeaders(service).organizationId}: $ORGANIZATION_ID"`,
    `-d '${JSON.stringify({ query: mutation, variables: { input } })}'`,
  ].join(' \\\n  ');
  return (
    <>
      <p>There is no subscription yet. Start a receiver, then create one with the key of the account:</p>
      <pre>{command}</pre>
      <Copy text={command} />
      <p className="soft">Deedwire sends a handshake to the URL first. The response has the secret, once: store it.</p>
      {egress.length > 0 && (
        <p className="soft">
          {'A firewall has to let requests through from '}
          <Visible as="code" text={egress.join(', ')} />.
        </p>
      )}
    </>
  );
}
