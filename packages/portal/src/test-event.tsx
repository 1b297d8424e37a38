import { deliveryHeaders } from '@deedwire/core/header-names';
import { useState } from 'preact/hooks';
import { Answer, waitingText } from './answer.tsx';
import { Deliveries, SendTest, type SubscriptionFieldsFragment } from './generated/documents.ts';
import { Link } from './location.tsx';
import { service } from './session.ts';
import { Action } from './ui/action.tsx';
import { Select } from './ui/form.tsx';
import { Problem } from './ui/problem.tsx';
import { useQuery } from './use-query.ts';
import { numberOf } from './words.ts';

interface Props {
  readonly subscription: SubscriptionFieldsFragment;
  readonly types: readonly string[];
  readonly reload: () => void;
}

/** Sends a test event of one of these types, at the version that is pinned. It would wait while the subscription is paused. */
export function TestEvent({ subscription: { id, status }, types, reload }: Props) {
  if (status === 'PAUSED')
    return <span className="soft">A test event can be sent once the subscription is resumed.</span>;
  return (
    <Action
      label="Send a test event"
      about={`It has sample data and the header ${deliveryHeaders(service).test}: true, and reports no change. It is sent at once, even while other deliveries are on hold.`}
      ability="OPERATE"
      document={SendTest}
      variables={({ eventType = null }, idempotencyKey) => ({
        input: { subscriptionId: id, eventType, idempotencyKey },
      })}
      onDone={reload}
      result={({ sendTestWebhookEvent: { webhookEventId } }) =>
        webhookEventId && <Sent subscriptionId={id} eventId={webhookEventId} />
      }
    >
      <Select name="eventType" label="Event type" options={types.map((type) => [type, type])} />
    </Action>
  );
}

/** The delivery of the event is created after it. */
function Sent({ subscriptionId, eventId }: { subscriptionId: string; eventId: string }) {
  const [id, setId] = useState<string | null>(null);
  const variables = id === null ? { first: 1, subscriptionId, eventId } : null;
  const { data, failure, reload } = useQuery(Deliveries, variables, null);
  const found = data?.webhookDeliveries.nodes[0];
  if (found) setId(found.id);
  if (id !== null)
    return (
      <Answer id={id} after={0} hasten>
        <Link to={`deliveries/${numberOf(id)}`}>See the delivery</Link>
      </Answer>
    );
  return (
    <>
      <p>{waitingText}</p>
      {failure && <Problem failure={failure} retry={reload} />}
    </>
  );
}
