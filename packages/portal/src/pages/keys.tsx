import { requestHeaders } from '@deedwire/core/header-names';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as documents from '../generated/documents.ts';
import { base, gidOf, service, useMay, useSession } from '../session.ts';
import { formatDuration, minuteOf } from '../time.ts';
import { Action } from '../ui/action.tsx';
import { Copy } from '../ui/copy.tsx';
import { Choices, Field, Input, Select } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded } from '../ui/problem.tsx';
import { Facts, Table } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { TimeInput } from '../ui/time-input.tsx';
import { Relative, Time, useNow } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { wordOf } from '../words.ts';

type Key = documents.KeyFieldsFragment;

interface Props {
  readonly reload: () => void;
}

export default function KeysPage() {
  const mayManage = useMay('MANAGE_KEYS');
  const { keyClient } = useSession();
  const query = useQuery(documents.Keys, mayManage ? {} : null, 30_000);
  if (!mayManage)
    return (
      <Heading title="Keys">
        <p>You cannot manage API keys. Ask for a link that allows it.</p>
      </Heading>
    );
  return (
    <>
      <Heading title="Keys">
        <div className="actions">
          <Create reload={query.reload} />
        </div>
      </Heading>
      <p>
        The API keys
        {keyClient && (
          <>
            {' of the client '}
            <Visible as="code" text={keyClient} />
          </>
        )}
        . A program sends one with each request.
      </p>
      <Loaded query={query}>{({ apiKeys }) => <Keys keys={apiKeys} reload={query.reload} />}</Loaded>
    </>
  );
}

function Keys({ keys, reload }: Props & { readonly keys: readonly Key[] }) {
  const [gone, setGone] = useState<Key | null>(null);
  /** The key whose rotation is open: it ends meanwhile, and its section has the dialog with the secret. */
  const [held, setHeld] = useState<string | null>(null);
  const wasHeld = useRef<string | null>(null);
  const region = useRef<HTMLDivElement>(null);
  // The section of the key goes, and with it the button that would get the focus back.
  useEffect(() => {
    if (gone) region.current?.focus();
  }, [gone]);
  useEffect(() => {
    const replaced = held === null && keys.find(({ id, endedAt }) => id === wasHeld.current && endedAt !== null);
    wasHeld.current = held;
    if (replaced) setGone(replaced);
  }, [held]);
  const isShown = ({ id, endedAt }: Key): boolean => endedAt === null || id === held;
  const live = keys.filter(isShown);
  const ended = keys.filter((key) => !isShown(key));
  return (
    <>
      <div role="status" tabIndex={-1} ref={region}>
        {gone && (
          <p>
            <KeyName of={gone} /> is no longer accepted.
          </p>
        )}
      </div>
      {live.length === 0 && <p>There is no key yet that is accepted. Create one.</p>}
      {live.map((key) => (
        <LiveKey
          key={key.id}
          of={key}
          reload={reload}
          onRevoked={() => setGone(key)}
          onRotating={(isOpen) => setHeld(isOpen ? key.id : null)}
        />
      ))}
      {ended.length > 0 && (
        <>
          <h2>Ended keys</h2>
          <section tabIndex={-1} aria-label="Ended keys">
            <Table
              head={['Key', 'Ended', 'Last used', 'Created']}
              rows={ended.map((key) => [
                <>
                  <KeyName of={key} />
                  <small>{key.id}</small>
                </>,
                key.endedAt && <Time at={key.endedAt} />,
                key.lastUsedAt ? <Time at={key.lastUsedAt} /> : 'Never',
                <Created of={key} />,
              ])}
            />
          </section>
        </>
      )}
    </>
  );
}

function KeyName({ of: { name, id } }: { of: Key }) {
  return <Visible text={name ?? id} />;
}

function Created({ of: { createdAt, createdBy } }: { of: Key }) {
  const { apiKeyId = null, portalActor = null } = createdBy ?? {};
  return (
    <>
      <Time at={createdAt} />
      <small>
        {portalActor !== null && apiKeyId !== null && (
          <>
            {'in the portal by '}
            <Visible text={portalActor} />
          </>
        )}
        {portalActor === null && apiKeyId !== null && `with the key ${apiKeyId}`}
        {apiKeyId === null && `by ${portalActor === null ? '' : 'an invite of '}an operator`}
      </small>
    </>
  );
}

interface LiveKeyProps extends Props {
  readonly of: Key;
  readonly onRevoked: () => void;
  readonly onRotating: (isOpen: boolean) => void;
}

function LiveKey({ of: key, reload, onRevoked, onRotating }: LiveKeyProps) {
  const { id, name, abilities, addresses, expiresAt, lastUsedAt, lastUsedFrom, lastUsedVersion } = key;
  const given = useGiven();
  const missing = abilities.filter((ability) => !given.includes(ability));
  return (
    <section tabIndex={-1} aria-label={name ?? id}>
      <h2>
        <KeyName of={key} />
      </h2>
      <Facts
        of={{
          'Key id': <code>{id}</code>,
          May: abilities.map(wordOf).join(', '),
          'Accepted from': addresses === null ? 'Any address' : addresses.map((each) => <div key={each}>{each}</div>),
          Created: <Created of={key} />,
          'Last used': lastUsedAt ? (
            <>
              <Relative at={lastUsedAt} />
              <small>
                {[lastUsedFrom && `from ${lastUsedFrom}`, lastUsedVersion && `version ${lastUsedVersion}`]
                  .filter(Boolean)
                  .join(', ')}
              </small>
            </>
          ) : (
            'Never'
          ),
          Ends: expiresAt ? <Time at={expiresAt} /> : 'Never',
        }}
      />
      <div className="actions">
        {missing.length === 0 ? (
          <Rotate of={key} reload={reload} onRotating={onRotating} />
        ) : (
          <p className="soft">{`To rotate it, a session has to give ${missing.map(wordOf).join(', ')} too.`}</p>
        )}
        <Action
          label="Revoke"
          about={`Revoke ${name ?? id}? Requests with it are refused within a second. That cannot be undone.`}
          ability="MANAGE_KEYS"
          document={documents.RevokeKey}
          variables={() => ({ id })}
          onDone={() => {
            onRevoked();
            reload();
          }}
        />
      </div>
    </section>
  );
}

/** What the keys of the session can have at most. */
function useGiven(): readonly string[] {
  const { keyAbilities, abilities } = useSession();
  return keyAbilities ?? abilities;
}

const allAbilities = [
  ['READ', 'See everything but payloads. Every key may.'],
  ['READ_PAYLOAD', 'See payloads, and the headers and bodies of requests and responses.'],
  ['OPERATE', 'Retry, resend and test deliveries; pause and resume subscriptions.'],
  ['CONFIGURE', 'Create, change and delete subscriptions. Only together with Read payload.'],
  ['WRITE', 'Change the records of this interface.'],
  ['MANAGE_KEYS', 'List, create, rotate and revoke the keys of this client.'],
] as const;

function Create({ reload }: Props) {
  const given = useGiven();
  const offered = allAbilities.filter(([ability]) => given.includes(ability));
  const withheld = allAbilities.filter(([ability]) => !given.includes(ability));
  return (
    <Action
      label="Create a key"
      about="A key cannot be changed later, only replaced."
      ability="MANAGE_KEYS"
      primary
      document={documents.CreateKey}
      variables={({ name = '', expiresAt, addresses = '', ...values }, idempotencyKey) => {
        const networks = addresses.split('\n').map((line) => line.trim());
        const input = {
          name,
          abilities: offered.flatMap(([ability]) => (ability === 'READ' || values[ability] ? ability : [])),
          expiresAt: expiresAt || null,
          addresses: addresses === '' ? null : networks.filter(Boolean),
          idempotencyKey,
        };
        return { input };
      }}
      onDone={reload}
      result={({ createApiKey: { apiKeySecret } }) => apiKeySecret && <Secret secret={apiKeySecret} />}
    >
      <Input name="name" label="Name, for example of the program that uses it" required maxLength={100} />
      <Choices
        name="abilities"
        label="The key may"
        choices={offered.map(([ability, about]) => [ability, wordOf(ability), about])}
        fixed="READ"
      />
      {withheld.length > 0 && (
        <p className="soft">{`You cannot give ${withheld.map(([ability]) => wordOf(ability)).join(', ')}.`}</p>
      )}
      <TimeInput name="expiresAt" label="Ends" note="Empty: it does not end." />
      <Field
        name="addresses"
        label="Addresses or networks from which it is accepted, one per line. Empty: any."
        control={
          <textarea name="addresses" rows={2} autocomplete="off" spellcheck={false} placeholder="192.0.2.0/24" />
        }
      />
    </Action>
  );
}

const overlaps = [
  ['0', 'Not at all: it ends at once'],
  ['3600', '1 hour'],
  ['86400', '24 hours'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;

function Rotate({ of: { id, name, expiresAt }, reload, onRotating }: Omit<LiveKeyProps, 'onRevoked'>) {
  return (
    <Action
      label="Rotate"
      about={`A new key replaces ${name ?? id}, with the same name, abilities, addresses and end.`}
      ability="MANAGE_KEYS"
      document={documents.RotateKey}
      onOpen={onRotating}
      variables={({ overlapSeconds }, idempotencyKey) => ({
        input: { id, overlapSeconds: Number(overlapSeconds), idempotencyKey },
      })}
      onDone={reload}
      result={({ rotateApiKey: { apiKeySecret } }) => apiKeySecret && <Secret secret={apiKeySecret} />}
    >
      <Overlap expiresAt={expiresAt} />
    </Action>
  );
}

function Overlap({ expiresAt }: Pick<Key, 'expiresAt'>) {
  const [seconds, setSeconds] = useState('86400');
  const now = useNow(10_000);
  const endMs = Math.min(now + Number(seconds) * 1000, Date.parse(expiresAt ?? '') || Infinity);
  const leftMs = endMs - now;
  return (
    <>
      <Select
        name="overlapSeconds"
        label="The old key is accepted for"
        options={overlaps}
        value={seconds}
        onChange={(event) => setSeconds(event.currentTarget.value)}
      />
      <p role="status">
        {leftMs <= 0
          ? 'Requests with the old key are refused within a second.'
          : `The old key ends in ${formatDuration(leftMs)}, at ${minuteOf(new Date(endMs).toISOString())}.`}
      </p>
    </>
  );
}

/** Hidden in a page that the browser keeps. The dialog forgets it when it closes. */
function Secret({ secret }: { secret: string }) {
  const session = useSession();
  const [isShown, setShown] = useState(true);
  useEffect(() => {
    const hide = () => setShown(false);
    addEventListener('pagehide', hide);
    return () => removeEventListener('pagehide', hide);
  }, []);
  if (!isShown) return <p>The key was shown once. If you did not store it, rotate it.</p>;
  const organization = gidOf(session, 'Organization', /\d+(?=\/$)/.exec(base)?.[0] ?? '');
  return (
    <>
      <p>Store the key now: it is not shown again.</p>
      <pre translate={false}>{secret}</pre>
      <Copy text={secret} />
      <p>
        Send it with each request as <code>{requestHeaders(service).apiKey}</code>, together with:
      </p>
      <pre translate={false}>
        {session.keyClient && `${requestHeaders(service).clientId}: ${session.keyClient}\n`}
        {`${requestHeaders(service).organizationId}: ${organization}`}
      </pre>
    </>
  );
}
