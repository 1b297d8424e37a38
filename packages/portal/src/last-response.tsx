import { firstLineOf, type Response } from './first-line.ts';
import * as documents from './generated/documents.ts';
import { useMay } from './session.ts';
import { Visible } from './ui/text.tsx';
import { useQuery } from './use-query.ts';
import { resultOf } from './words.ts';

interface Failure {
  readonly deliveryId: string;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

/** The response of the endpoint to an attempt that failed. Nothing without the ability to read it, or if the delivery was tried again. */
export function LastResponse({ failure }: { failure: Failure }) {
  const mayRead = useMay('READ_PAYLOAD');
  const isComplete = failure.error === null;
  const query = useQuery(documents.LastResponse, mayRead && isComplete ? { id: failure.deliveryId } : null, 30_000);
  const attempt = query.data?.webhookDelivery?.attempts[0];
  if (!attempt?.exchange || resultOf(attempt) !== resultOf(failure)) return null;
  return <ResponseLine response={{ ...attempt, ...attempt.exchange }} />;
}

export function ResponseLine({ response }: { response: Response }) {
  const { about, text } = firstLineOf(response);
  return (
    <p className="response">
      {about} {text && <Visible as="code" text={text} />}
    </p>
  );
}
