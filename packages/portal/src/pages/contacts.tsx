import { useEffect, useRef, useState } from 'preact/hooks';
import * as documents from '../generated/documents.ts';
import { useMay } from '../session.ts';
import { Action } from '../ui/action.tsx';
import { Input } from '../ui/form.tsx';
import { Heading } from '../ui/heading.tsx';
import { Loaded } from '../ui/problem.tsx';
import { State } from '../ui/state.tsx';
import { Facts } from '../ui/table.tsx';
import { Visible } from '../ui/text.tsx';
import { Time } from '../ui/time.tsx';
import { useQuery } from '../use-query.ts';
import { wordOf } from '../words.ts';

type Contact = documents.ContactFieldsFragment;

interface Props {
  readonly contacts: readonly Contact[];
  readonly reload: () => void;
}

const addressesMax = 5;

export default function ContactsPage() {
  const mayConfigure = useMay('CONFIGURE');
  const query = useQuery(documents.Contacts, mayConfigure ? {} : null, 30_000);
  if (!mayConfigure)
    return (
      <Heading title="Contacts">
        <p>You cannot manage contact addresses. Ask for a link that allows it.</p>
      </Heading>
    );
  return (
    <>
      <Heading title="Contacts" />
      <p>
        Deedwire sends mail to these addresses when an endpoint fails or works again, when a subscription is paused,
        when deliveries fail for good, and before an API key ends.
      </p>
      <Loaded query={query}>
        {({ contactEmails }) => <Contacts contacts={contactEmails} reload={query.reload} />}
      </Loaded>
    </>
  );
}

function Contacts({ contacts, reload }: Props) {
  const [removed, setRemoved] = useState<string | null>(null);
  const region = useRef<HTMLDivElement>(null);
  // The section of the address goes, and with it the button that would get the focus back.
  useEffect(() => {
    if (removed !== null) region.current?.focus();
  }, [removed]);
  return (
    <>
      <div role="status" tabIndex={-1} ref={region}>
        {removed !== null && (
          <p>
            <Visible text={removed} /> gets no more mail.
          </p>
        )}
      </div>
      <div className="actions">
        {contacts.length < addressesMax ? (
          <Add contacts={contacts} reload={reload} />
        ) : (
          <p className="soft">{`An account has at most ${addressesMax} addresses. To add another one, remove one.`}</p>
        )}
      </div>
      {contacts.length === 0 && <p>There is no address yet, so no mail is sent.</p>}
      {contacts.map((contact) => (
        <ContactSection
          key={contact.email}
          of={contact}
          contacts={contacts}
          reload={reload}
          onRemoved={() => setRemoved(contact.email)}
        />
      ))}
    </>
  );
}

function Add({ contacts, reload }: Props) {
  return (
    <Action
      label="Add an address"
      about="It gets a mail with a link. A person who opens the link and presses the button there agrees to get mail."
      ability="CONFIGURE"
      primary
      document={documents.UpdateContacts}
      variables={({ emails: added = '' }) => ({ emails: [...contacts.map(({ email }) => email), added] })}
      onDone={reload}
      report={() => <p>The link is on its way. It works for 24 hours.</p>}
    >
      <Input name="emails" label="Address" required maxLength={254} placeholder="webhooks@example.com" />
    </Action>
  );
}

interface SectionProps extends Props {
  readonly of: Contact;
  readonly onRemoved: () => void;
}

function ContactSection({ of: contact, contacts, reload, onRemoved }: SectionProps) {
  const { email, confirmedAt, stoppedAt, unsubscribedFrom } = contact;
  const all = contacts.map((each) => each.email);
  return (
    <section tabIndex={-1} aria-label={email}>
      <h2>
        <Visible text={email} />
      </h2>
      <Facts
        of={{
          State: <ContactState of={contact} />,
          ...(unsubscribedFrom.length > 0 && {
            'Unsubscribed from': unsubscribedFrom.map((subject) => subjects[subject] ?? wordOf(subject)).join(', '),
          }),
        }}
      />
      {(stoppedAt !== null || unsubscribedFrom.length > 0) && (
        <p className="soft">To get all mails at this address again, remove it and add it.</p>
      )}
      <div className="actions">
        <Action
          label="Send the link again"
          about={`Send another link to ${email}? Nothing is sent if it got one within 10 minutes. An address gets at most 3 links within 24 hours.`}
          ability="CONFIGURE"
          isOffered={confirmedAt === null && stoppedAt === null}
          document={documents.UpdateContacts}
          variables={() => ({ emails: all })}
          onDone={reload}
          report={() => <p>The link is on its way, unless the address got one within 10 minutes.</p>}
        />
        <Action
          label="Remove"
          about={`Remove ${email}? It gets no more mail.`}
          ability="CONFIGURE"
          document={documents.UpdateContacts}
          variables={() => ({ emails: all.filter((each) => each !== email) })}
          onDone={() => {
            onRemoved();
            reload();
          }}
        />
      </div>
    </section>
  );
}

const subjects: Readonly<Record<string, string>> = {
  DISRUPTED: 'Endpoint fails',
  PAUSED: 'Subscription paused',
  RECOVERED: 'Endpoint works again',
  FAILED: 'Deliveries failed for good',
  KEY_EXPIRING: 'API key ends',
};

function ContactState({ of: { confirmedAt, stoppedAt } }: { of: Contact }) {
  if (stoppedAt !== null)
    return (
      <>
        <State value="STOPPED" />
        <small>
          {'Its mail server refused five mails in a row, the last at '}
          <Time at={stoppedAt} />
        </small>
      </>
    );
  if (confirmedAt === null)
    return (
      <>
        <State value="NOT_CONFIRMED" />
        <small>Open the link in the mail that it got, and press the button there.</small>
      </>
    );
  return (
    <>
      <State value="CONFIRMED" />
      <small>
        <Time at={confirmedAt} />
      </small>
    </>
  );
}
