import {
  type ContactEmail,
  contactEmailsErrorCodes,
  contactSubjects,
  listContactEmails,
  updateContactEmails,
} from '@deedwire/actions';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';

/** Adds `ContactEmail`, `Query.contactEmails` and `Mutation.updateContactEmails`. */
export function addContactEmails(builder: InterfaceSchemaBuilder): void {
  const Subject = builder.enumType('ContactSubject', { values: contactSubjects });
  const Contact = builder.objectRef<ContactEmail>('ContactEmail').implement({
    fields: (t) => ({
      email: t.exposeString('email'),
      confirmedAt: t.expose('confirmedAt', { type: 'DateTime', nullable: true }),
      stoppedAt: t.expose('stoppedAt', { type: 'DateTime', nullable: true }),
      unsubscribedFrom: t.expose('unsubscribedFrom', { type: [Subject] }),
    }),
  });

  builder.queryField('contactEmails', (t) =>
    t.field({ type: [Contact], resolve: (_, _args, { actions, caller }) => listContactEmails(actions, caller) }),
  );

  addMutation(builder, 'updateContactEmails', {
    input: (t) => ({ emails: t.stringList({ required: true }) }),
    codes: contactEmailsErrorCodes,
    resolve: (input, { actions, caller }) => updateContactEmails(actions, caller, input),
    payload: (t) => ({ contactEmails: t.expose('contactEmails', { type: [Contact], nullable: true }) }),
  });
}
