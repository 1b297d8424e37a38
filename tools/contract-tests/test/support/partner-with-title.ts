/** The edits of a version of the partner API that lets it serve `Partner.title` in place of `Partner.name`. */
export const partnerWithTitle: readonly [from: string, to: string][] = [
  [
    "import { addPartner } from '../schema/partner.ts';\n",
    "import { type Partner, readPartner } from '@deedwire/actions';\n",
  ],
  [
    '  addPartner(builder);\n',
    `
  const PartnerType = builder.objectRef<Partner>('Partner').implement({
    fields: (t) => ({ id: t.exposeID('id'), title: t.exposeString('name') }),
  });
  builder.queryField('partner', (t) =>
    t.field({ type: PartnerType, resolve: (_, _args, { actions, caller }) => readPartner(actions, caller) }),
  );
`,
  ],
];
