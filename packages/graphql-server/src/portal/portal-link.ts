import { createPortalLink, type PortalLink, portalLinkErrorCodes } from '@deedwire/actions';
import { portalAbilities } from '@deedwire/core';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';

/** Adds `Mutation.createPortalLink`. */
export function addPortalLink(builder: InterfaceSchemaBuilder, { checkId }: { checkId: CheckId }): void {
  const Ability = builder.enumType('PortalAbility', { values: portalAbilities });
  const Link = builder.objectRef<PortalLink>('PortalLink').implement({
    fields: (t) => ({ url: t.exposeString('url'), expiresAt: t.expose('expiresAt', { type: 'DateTime' }) }),
  });

  addMutation(builder, 'createPortalLink', {
    input: (t) => ({
      abilities: t.field({ type: [Ability], required: true }),
      actor: t.string({ required: true }),
      returnUrl: t.string(),
      expiresInSeconds: t.int({ defaultValue: 300 }),
      subscriptionId: t.id(),
    }),
    codes: portalLinkErrorCodes,
    id: { checkId, name: 'subscriptionId', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => createPortalLink(actions, caller, input),
    payload: (t) => ({ portalLink: t.expose('portalLink', { type: Link, nullable: true }) }),
  });
}
