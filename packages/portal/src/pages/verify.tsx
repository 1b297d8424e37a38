import { deliveryHeaders } from '@deedwire/core/header-names';
import { diagnoseWebhook, type Diagnosis, readCapturedRequest, splitCapture } from '@deedwire/webhook-diagnosis/web';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { bytesOfText } from '../bytes.ts';
import { Delivery, Exchange, Payload } from '../generated/documents.ts';
import { Link, useUrl } from '../location.tsx';
import { send } from '../request.ts';
import { gidOf, service, useMay, useSession } from '../session.ts';
import { timeOf } from '../time.ts';
import { Documentation } from '../ui/documentation.tsx';
import { Dropped } from '../ui/dropped.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Advice, Visible } from '../ui/text.tsx';
import { TimeInput } from '../ui/time-input.tsx';
import { useQuery } from '../use-query.ts';
import { numberOf, plural } from '../words.ts';

/** The request of an attempt, as Deedwire sent it. */
interface Sent {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly at: string;
}

/** A request is verified in the page: what is typed or dropped, and above all the secret, stays in it. */
export default function VerifyPage() {
  const { params } = useUrl();
  const [delivery] = /^\d{1,19}$/.exec(params.get('delivery') ?? '') ?? [];
  const attempt = Number(/^\d{1,9}$/.exec(params.get('attempt') ?? ''));
  return (
    <>
      <Heading
        title="Verify"
        above={delivery && <Link to={`deliveries/${delivery}?attempt=${attempt}`}>{`Delivery ${delivery}`}</Link>}
      />
      <p>
        Find out why a receiver rejects the signature of a request. The secret and the request stay in this page.
        Deedwire only looks up the delivery that <code>webhook-id</code> names.
      </p>
      {delivery ? <OfAttempt key={`${delivery} ${attempt}`} {...{ delivery, attempt }} /> : <Form sent={null} />}
    </>
  );
}

function OfAttempt({ delivery, attempt }: { delivery: string; attempt: number }) {
  const id = gidOf(useSession(), 'WebhookDelivery', delivery);
  const mayRead = useMay('READ_PAYLOAD');
  const before = attempt + 1;
  const times = useQuery(Delivery, mayRead ? { id, before } : null);
  const exchange = useQuery(Exchange, mayRead ? { id, before } : null);
  const payload = useQuery(Payload, mayRead ? { id } : null);
  if (!mayRead)
    return <Form sent={null}>This session may not read what was sent. Paste what your receiver captured.</Form>;
  const notKept = 'The request of this attempt is not kept. Paste what your receiver captured.';
  return (
    <Loaded query={times}>
      {({ webhookDelivery: ofDelivery }) => (
        <Loaded query={exchange}>
          {({ webhookDelivery: found }) => (
            <Loaded query={payload}>
              {({ webhookDelivery: sent }) => {
                const started = ofDelivery?.attempts.find(({ number }) => number === attempt);
                const kept = found?.attempts.find(({ number }) => number === attempt)?.exchange;
                const body = sent?.payload;
                if (!started || !kept || typeof body !== 'string') return <Form sent={null}>{notKept}</Form>;
                const headers = kept.requestHeaders.map(({ name, value }) => [name, value] as const);
                return <Form sent={{ headers, body, at: started.startedAt }} />;
              }}
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

// A body has at most 256 kB. JSON, base64 and UTF-16 can make more of it, and a capture can have many.
const captureMaxBytes = 20_000_000;
const [secretsMax, requestsMax] = [10, 50];

async function bytesOf(file: File | null, typed: string): Promise<Uint8Array<ArrayBuffer>> {
  if ((file?.size ?? typed.length) > captureMaxBytes)
    throw new Error(`The capture has more than ${captureMaxBytes / 1_000_000} MB. Verify a part of it.`);
  return file ? new Uint8Array(await file.arrayBuffer()) : bytesOfText(typed).bytes;
}

/** The record that a header of a request names. Null if it names none. */
function recordOf(headers: Sent['headers'], header: string, type: string): string | null {
  const [, id = ''] = headers.find(([name]) => name.toLowerCase() === header.toLowerCase()) ?? [];
  return new RegExp(String.raw`^gid://[a-z0-9-]+/${type}/\d{1,19}$`).test(id) ? id : null;
}

const deliveryOf = (headers: Sent['headers']) => recordOf(headers, 'webhook-id', 'WebhookDelivery');

interface Verified {
  readonly at: Date;
  /** Whether the time of arrival is unknown, so `at` is now. */
  readonly isAssumed: boolean;
  readonly subscriptionId: string | null;
  readonly diagnosis: Diagnosis;
  /** Without an age that is assumed. */
  readonly rejection: Diagnosis['rejection'];
}

function Form({ sent, children }: { sent: Sent | null; children?: ComponentChildren }) {
  const mayRead = useMay('READ_PAYLOAD');
  const [file, setFile] = useState<File | null>(null);
  const [bodyFile, setBodyFile] = useState<File | null>(null);
  const [problem, setProblem] = useState('');
  const [results, setResults] = useState<{ secrets: number; requests: readonly Verified[] } | null>(null);
  // Not a state of a component, which would write it into the document.
  const secret = useRef<HTMLTextAreaElement>(null);
  const capture = useRef<HTMLTextAreaElement>(null);
  const separate = useRef<HTMLTextAreaElement>(null);
  const arrival = useRef<HTMLInputElement>(null);

  /** Null if a request names another delivery than that of this page. */
  const sentAs = (headers: Sent['headers']): Sent | null =>
    sent && [null, deliveryOf(sent.headers)].includes(deliveryOf(headers)) ? sent : null;

  /** What Deedwire sends for the delivery that a request names. Null if it is unknown. */
  const bodyOf = async (headers: Sent['headers']): Promise<string | null> => {
    const own = sentAs(headers);
    const id = deliveryOf(headers);
    if (own || !mayRead || id === null) return own?.body ?? null;
    return (await send(Payload, { id })).webhookDelivery?.payload ?? null;
  };

  const verify = async (): Promise<void> => {
    const secrets = (secret.current?.value ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
    if (secrets.length === 0) throw new Error('Enter the secret of the receiver.');
    if (secrets.length > secretsMax) throw new Error(`Enter at most ${secretsMax} secrets.`);
    const at = arrival.current?.value || null;
    const text = capture.current?.value ?? '';
    const requests: Verified[] = [];
    type Rest = Omit<Parameters<typeof diagnoseWebhook>[0], 'secrets'>;
    const add = async (headers: Sent['headers'], rest: Rest, isAssumed = false) => {
      const body = await bodyOf(headers);
      const sentBody = body === null ? null : bytesOfText(body).bytes;
      const input = { ...rest, secrets, sentBody, prefix: service.names.headerPrefix };
      const diagnosis = await diagnoseWebhook(input);
      // A receiver checks the age first. One that is assumed must not hide what a receiver checks next.
      const { rejection } =
        isAssumed && diagnosis.rejection === 'TIMESTAMP_TOO_OLD'
          ? await diagnoseWebhook({ ...input, toleranceSeconds: Number.MAX_SAFE_INTEGER })
          : diagnosis;
      const subscriptionId = recordOf(headers, deliveryHeaders(service).subscriptionId, 'WebhookSubscription');
      requests.push({ at: rest.receivedAt, isAssumed, subscriptionId, diagnosis, rejection });
    };
    const typedBody = await bytesOf(bodyFile, separate.current?.value ?? '');
    const ownBody = typedBody.length > 0 ? typedBody : null;
    if (!file && text.trim() === '') {
      if (!sent) throw new Error('Paste the request, or choose a file with it.');
      const request = { headers: sent.headers, body: ownBody ?? bytesOfText(sent.body).bytes, findings: [] };
      await add(sent.headers, { request, receivedAt: new Date(at ?? sent.at) });
    } else {
      const parts = splitCapture(await bytesOf(file, text));
      if (parts.length === 0) throw new Error('The capture has no POST request. Deedwire sends POST requests only.');
      if (parts.length > requestsMax)
        throw new Error(`The capture has ${parts.length} requests. Verify at most ${requestsMax} at once.`);
      if (ownBody !== null && parts.length > 1)
        throw new Error(`The capture has ${parts.length} requests, but a separate body belongs to one request.`);
      for (const [index, { bytes, receivedAt }] of parts.entries()) {
        const { request, problem: unreadable } = readCapturedRequest(bytes, ownBody);
        const name = parts.length === 1 ? 'The request' : `Request ${index + 1}`;
        if (request === null) throw new Error(`${name} cannot be read. ${unreadable}`);
        const arrived = at ?? receivedAt ?? sentAs(request.headers)?.at ?? null;
        await add(request.headers, { request, receivedAt: new Date(arrived ?? Date.now()) }, arrived === null);
      }
    }
    setResults({ secrets: secrets.length, requests });
  };
  const submit = async () => {
    setResults(null);
    setProblem('Verifying…');
    try {
      await verify();
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const note = sent && `If empty: the request of ${timeOf(sent.at)}, as Deedwire sent it`;
  return (
    <form
      className="tool"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {children && <p>{children}</p>}
      <label className="field">
        Secret of the receiver. During a rotation: the old and the new one, one per line
        <textarea
          ref={secret}
          className="secret"
          rows={2}
          autocomplete="off"
          spellcheck={false}
          placeholder="whsec_…"
        />
      </label>
      <Dropped
        file={file}
        onFile={setFile}
        label="Drop a file with the captured request (keeps the exact bytes), or paste the request"
      >
        <textarea
          ref={capture}
          aria-label="Captured request"
          rows={7}
          autocomplete="off"
          spellcheck={false}
          placeholder={note ?? 'HTTP text, the output of curl -v, HAR, or JSON with headers and body'}
        />
      </Dropped>
      <Dropped
        file={bodyFile}
        onFile={setBodyFile}
        label="If you captured the body separately, drop it or paste it"
        name="File of the body"
      >
        <textarea ref={separate} aria-label="Body" rows={2} autocomplete="off" spellcheck={false} />
      </Dropped>
      <TimeInput
        ref={arrival}
        label="Arrived at"
        near={sent?.at ?? null}
        note={`Empty: as captured, otherwise ${sent ? 'when it was sent' : 'now'}`}
      />
      <button className="first">Verify</button>
      <div role="status">{problem && <Visible text={problem} />}</div>
      {results?.requests.map((verified, index) => (
        <Result key={index} {...verified} secrets={results.secrets} />
      ))}
      {sent && (
        <>
          <h2>What was sent</h2>
          <Visible as="pre" text={sent.headers.map(([name, value]) => `${name}: ${value}`).join('\n')} />
          <Visible as="pre" text={sent.body} />
        </>
      )}
    </form>
  );
}

function Result({ at, isAssumed, subscriptionId, diagnosis, rejection, secrets }: Verified & { secrets: number }) {
  const { matchingSecrets, findings } = diagnosis;
  const isAccepted = rejection === null;
  const which = secrets === 1 ? 'the secret' : `secret ${matchingSecrets.join(' and ')} of ${secrets}`;
  const cause = matchingSecrets.length > 0 && `It was signed with ${which}; what follows is wrong.`;
  const arrived = timeOf(at.toISOString());
  return (
    <section role="status" aria-label="Result" className={`why ${isAccepted ? 'good' : 'bad'}`}>
      <div>
        <p>
          <State
            value={diagnosis.isAccepted ? 'Accepted' : isAccepted ? 'Signed correctly' : 'Rejected'}
            tone={isAccepted ? 'good' : 'bad'}
          />{' '}
          {isAccepted ? `It was signed with ${which}.` : cause}
          <small>
            {isAssumed ? 'When it arrived was not typed.' : `Arrived at ${arrived}.`}
            {` ${plural(findings.length, 'finding')}.`}
            {!isAccepted && (
              <>
                {' '}
                A receiver answers with <code>{rejection}</code>.
              </>
            )}
          </small>
        </p>
        {!isAccepted && (
          <p>
            <Documentation page="webhook-did-not-arrive.md#the-signature-does-not-verify">
              Help: the signature does not verify
            </Documentation>
          </p>
        )}
        {findings.map(({ code, isProven, problem, remedy }) => (
          <p key={code + problem}>
            {isAssumed &&
              code === 'TIMESTAMP_TOO_OLD' &&
              `If it arrived at ${arrived}, which you did not type, it is too old. `}
            <Advice text={problem} /> <b>Fix:</b> <Advice text={remedy} />
            <small>
              <code>{code}</code>
              {!isProven && ' (probably)'}
            </small>
          </p>
        ))}
        {!isAccepted && subscriptionId && (
          <p>
            <Link to={`subscriptions/${numberOf(subscriptionId)}`}>View subscription</Link>
          </p>
        )}
      </div>
    </section>
  );
}
