import { requestHeaders } from '@deedwire/domain/names';
import { Bars } from '../bars.tsx';
import { Cause } from '../cause.tsx';
import { Find } from '../find-form.tsx';
import { Choices, Subscriptions, type ChoicesQuery, type SubscriptionFieldsFragment } from '../generated/documents.ts';
import { Link } from '../location.tsx';
import { base } from '../session.ts';
import { formatDay, timeOf } from '../time.ts';
import { Copy } from '../ui/copy.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded, Problem } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Visible } from '../ui/text.tsx';
import { Relative } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { nameOf, numberOf, plural } from '../words.ts';

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
            {nodes.length === 0 && types && <Subscribe types={types} />}
            {nodes.length > 0 && (
              <p className="soft">{`${plural(nodes.length, 'subscription')}. The bars show the last 24 hours.`}</p>
            )}
            {nodes.map((each) => (
              <Row key={each.id} subscription={each} types={types} reload={query.reload} />
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}

interface RowProps {
  readonly subscription: SubscriptionFieldsFragment;
  readonly types: ChoicesQuery['webhookEventTypes'] | undefined;
  readonly reload: () => void;
}

function Row({ subscription, types = [], reload }: RowProps) {
  const { id, callbackUrl, health, statistics, eventTypes } = subscription;
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
      <Bars hours={statistics} />
      <div className="num">
        {`${pendingCount.toLocaleString('en')}${pendingCountIsLowerBound ? '+' : ''} pending`}
        <small>
          {oldestPendingAt && `oldest since ${timeOf(oldestPendingAt)}`}
          {!oldestPendingAt && !lastDeliveredAt && 'nothing delivered in 7 days'}
          {!oldestPendingAt && lastDeliveredAt && (
            <>
              delivered <Relative at={lastDeliveredAt} />
            </>
          )}
        </small>
      </div>
      <Cause subscription={subscription} reload={reload} />
      {ending.length > 0 && <p className="all soft">{ending.join(' · ')}</p>}
    </section>
  );
}

const mutation =
  'mutation Subscribe($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) ' +
  '{ webhookSubscription { id } webhookSecret userErrors { code message } } }';

/** How to subscribe. It needs the key of the account, which the portal does not have. */
function Subscribe({ types: [first] }: { types: ChoicesQuery['webhookEventTypes'] }) {
  const input = { callbackUrl: 'https://example.com/webhooks', eventTypes: [{ type: first?.type }] };
  const command = [
    `curl -sS ${location.origin}${base.replace(/portal.*/, 'graphql')}`,
    `-H 'Content-Type: application/json'`,
    `-H "${requestHeaders.clientId}: $CLIENT_ID"`,
    `-H "${requestHeaders.apiKey}: $API_KEY"`,
    `-H "${requestHeaders.organizationId}: $ORGANIZATION_ID"`,
    `-d '${JSON.stringify({ query: mutation, variables: { input } })}'`,
  ].join(' \\\n  ');
  return (
    <>
      <p>There is no subscription yet. Start a receiver, then create one with the key of the account:</p>
      <pre>{command}</pre>
      <Copy text={command} />
      <p className="soft">Deedwire sends a handshake to the URL first. The response has the secret, once: store it.</p>
    </>
  );
}
