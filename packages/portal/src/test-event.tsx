import { deliveryHeaders } from '@deedwire/domain/names';
import { SendTest } from './generated/documents.ts';
import { Link } from './location.tsx';
import { Action } from './ui/action.tsx';
import { Select } from './ui/form.tsx';
import { numberOf } from './words.ts';

/** Sends a test event of one of these types, at the version that is pinned. */
export function TestEvent({ id, types, reload }: { id: string; types: readonly string[]; reload: () => void }) {
  return (
    <Action
      label="Send a test event"
      about={`It has sample data and the header ${deliveryHeaders.test}: true, and reports no change.`}
      ability="OPERATE"
      document={SendTest}
      variables={({ eventType = null }, idempotencyKey) => ({
        input: { subscriptionId: id, eventType, idempotencyKey },
      })}
      onDone={reload}
      result={() => (
        <p>
          It is sent now. <Link to={`deliveries?subscription=${numberOf(id)}`}>See the newest deliveries</Link>
        </p>
      )}
    >
      <Select name="eventType" label="Event type" options={types.map((type) => [type, type])} />
    </Action>
  );
}
