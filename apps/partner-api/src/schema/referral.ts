import { findReferral, findReferrals, listReferrals, type Referral, referralStatuses } from '@deedwire/firm/partner';
import type { CheckId, ConnectionOf, InterfaceSchemaBuilder, ObjectTypeRef } from '@deedwire/graphql-server';
import type { MatterRef } from './matter.ts';

export type ReferralRef = ObjectTypeRef<Referral>;

/** Adds `Referral`, `Query.referral`, `Query.referralsByIds` and `Query.referrals`. */
export function addReferral(
  builder: InterfaceSchemaBuilder,
  { Matter, connectionOf, checkId }: { Matter: MatterRef; connectionOf: ConnectionOf; checkId: CheckId },
): ReferralRef {
  const Status = builder.enumType('ReferralStatus', { values: referralStatuses });

  const ReferralType = builder.objectRef<Referral>('Referral').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      clientName: t.exposeString('clientName'),
      clientEmail: t.exposeString('clientEmail', { nullable: true }),
      externalReference: t.exposeString('externalReference', { nullable: true }),
      note: t.exposeString('note', { nullable: true }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true }),
      matter: t.expose('matter', { type: Matter, nullable: true }),
    }),
  });
  const ReferralConnection = connectionOf('Referral', ReferralType);

  builder.queryFields((t) => ({
    referral: t.field({
      type: ReferralType,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve(_, { id }, context) {
        checkId(context, 'Referral', 'id', id);
        return findReferral(context.actions, context.caller, id);
      },
    }),
    referralsByIds: t.field({
      type: t.listRef(ReferralType, { nullable: true }),
      args: { ids: t.arg.idList({ required: true }) },
      resolve(_, { ids }, context) {
        for (const [index, id] of ids.entries()) checkId(context, 'Referral', `ids.${index}`, id);
        return findReferrals(context.actions, context.caller, ids);
      },
    }),
    referrals: t.field({
      type: ReferralConnection,
      args: {
        first: t.arg.int({ defaultValue: 20 }),
        after: t.arg.string(),
        status: t.arg({ type: Status }),
        externalReference: t.arg.string(),
        createdAfter: t.arg({ type: 'DateTime' }),
        createdBefore: t.arg({ type: 'DateTime' }),
        closedAfter: t.arg({ type: 'DateTime' }),
      },
      resolve: (_, page, { actions, caller }) => listReferrals(actions, caller, page),
    }),
  }));
  return ReferralType;
}
