import { findReferral, listReferrals, type Referral } from '@deedwire/actions';
import type { ConnectionOf, InterfaceSchemaBuilder, ObjectTypeRef } from '@deedwire/graphql-server';
import type { MatterRef } from './matter.ts';

export type ReferralRef = ObjectTypeRef<Referral>;

/** Adds `Referral`, `Query.referral` and `Query.referrals`. */
export function addReferral(
  builder: InterfaceSchemaBuilder,
  { Matter, connectionOf }: { Matter: MatterRef; connectionOf: ConnectionOf },
): ReferralRef {
  const Status = builder.enumType('ReferralStatus', { values: ['OPEN', 'CONVERTED', 'DECLINED'] as const });

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
      resolve: (_, { id }, { actions, caller }) => findReferral(actions, caller, id),
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
