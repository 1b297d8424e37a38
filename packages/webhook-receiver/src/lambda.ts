import { bodyMax, type ReceivedBody } from './body.ts';
import type { WebhookReceiver } from './receiver.ts';

/** The parts of an event of API Gateway (both payload formats), a function URL or a load balancer that are used. */
export interface LambdaEvent {
  httpMethod?: string;
  requestContext?: { http?: { method?: string } };
  headers?: Readonly<Record<string, string | undefined>> | null;
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  body?: string | null;
  isBase64Encoded?: boolean;
}

export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  /** If the event has them: a load balancer in multi-value mode reads no others. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
}

/** The handler of an AWS Lambda function: `export const handler = lambdaHandler(receiver)`. */
export function lambdaHandler(receiver: WebhookReceiver): (event: LambdaEvent) => Promise<LambdaResult> {
  return async (event) => {
    const method = event.requestContext?.http?.method ?? event.httpMethod ?? '';
    const { headers: single, multiValueHeaders: multiple } = event;
    // API Gateway and load balancers fill one or both. Emulators can send the other one empty.
    const hasMultiple = Object.keys(multiple ?? {}).length > 0;
    const received = (hasMultiple ? multiple : single) ?? {};
    const { status, headers, body } = await receiver.receive({
      method,
      headers: received,
      body: async () => bodyOf(event),
    });
    const values = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
    const multiValueHeaders = Object.fromEntries(values);
    return { statusCode: status, headers: { ...headers }, ...(hasMultiple && { multiValueHeaders }), body };
  };
}

function bodyOf({ body, isBase64Encoded }: LambdaEvent): ReceivedBody {
  if (typeof body !== 'string' && body !== null && body !== undefined)
    return {
      kind: 'not-raw',
      fix: 'Pass the event of the function unchanged, without a middleware that parses its body.',
    };
  const bytes = Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8');
  return bytes.byteLength > bodyMax ? { kind: 'too-large' } : { kind: 'bytes', bytes };
}
