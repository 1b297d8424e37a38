import { useRef, useState } from 'preact/hooks';
import type { DocumentId } from './generated/documents.ts';
import { type Failure, failureOf, send } from './request.ts';

export interface UserError {
  readonly message: string;
  readonly code?: string;
  readonly field?: readonly string[] | null;
}

interface Mutation<Result, Variables> {
  readonly running: boolean;
  readonly failure: Failure | null;
  readonly userErrors: readonly UserError[];
  /** Returns null if the change failed, or if an earlier one is still running. A result with user errors is a refusal. */
  readonly run: (variables: () => Promise<Variables> | Variables) => Promise<Result | null>;
}

/** What refusals say to a person, whose messages are for programs. */
const messages: Readonly<Record<string, string>> = {
  DELIVERY_EXPIRED: 'It is no longer kept, so there is nothing to send.',
  EVENT_TYPE_UNKNOWN: 'There is no such event type. Choose another one.',
  IDEMPOTENCY_IN_PROGRESS: 'The same change is still running. Try again in a few seconds.',
  IDEMPOTENCY_KEY_REUSED: 'The range has changed since its preview. Preview it again.',
  LAST_KEY:
    'No other key with Manage keys would be left. To reject its secret at once, rotate it, and let the old key end at once.',
  EMAIL_INVALID: 'Type an address such as webhooks@example.com, without letters beyond ASCII.',
  MAIL_UNAVAILABLE: 'The operator of this portal sends no mail, so no address can be added.',
  NOT_FOUND: 'It no longer exists. Reload this page.',
  NOT_SUBSCRIBED:
    'The subscription does not get this event type, or gets it at a version that has ended. Reload this page.',
  OVERLAP_INVALID: 'Choose no overlap: Deedwire cannot read the present secret, so it cannot sign with it.',
  PAYLOAD_UNAVAILABLE: 'Deedwire has no payload of it, so there is nothing to send.',
  RANGE_INVALID:
    'No delivery of this range is kept. From must be before To and not in the future, and To not before the oldest delivery.',
  RATE_LIMITED:
    'You or somebody else pressed this within the last minute. Try again in a minute. A test event is sent at once and, if it is delivered, the pending ones follow.',
  REPLAY_IN_PROGRESS: 'A resend for this subscription is still running. Wait until it has ended, or cancel it.',
  RETRY_RATE_LIMITED: '60 deliveries were sent again within the last minute. Try again in a minute.',
  ROTATION_IN_PROGRESS: 'Two secrets sign at present. Choose no overlap, which ends that, or wait.',
  TEST_RATE_LIMITED: '60 test events were sent in this minute. Try again in the next one.',
  VERSION_RETIRED: 'It gets an event type at a version that has ended. Choose another version, which resumes it.',
  WEBHOOK_SECRET_INVALID:
    'Type another secret than the present one: `whsec_` and the base64 of 24 to 64 bytes. Or leave the field empty.',
};

export function userErrorsOf(result: object): UserError[] {
  return Object.values(result)
    .flatMap((payload: { userErrors: UserError[] }) => payload.userErrors)
    .map((error) => ({ ...error, message: messages[error.code ?? ''] ?? error.message }));
}

export function useMutation<Result extends object, Variables>(
  documentId: DocumentId<Result, Variables>,
): Mutation<Result, Variables> {
  const idle = { running: false, failure: null, userErrors: [] };
  const [state, setState] = useState<Omit<Mutation<Result, Variables>, 'run'>>(idle);
  const running = useRef(false);
  const run: Mutation<Result, Variables>['run'] = async (variables) => {
    if (running.current) return null;
    running.current = true;
    setState({ ...idle, running: true });
    try {
      const result = await send(documentId, await variables());
      setState({ ...idle, userErrors: userErrorsOf(result) });
      return result;
    } catch (error) {
      setState({ ...idle, failure: failureOf(error) });
      return null;
    } finally {
      running.current = false;
    }
  };
  return { ...state, run };
}
