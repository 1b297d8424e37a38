import type { EventSnapshots } from '@deedwire/domain';
import * as lenderUpdated20261101 from './lender.updated/2026-11-01.ts';
import * as referralConverted20261101 from './referral.converted/2026-11-01.ts';
import * as referralConverted20270201 from './referral.converted/2027-02-01.ts';
import * as referralCreated20261101 from './referral.created/2026-11-01.ts';
import * as referralDeclined20261101 from './referral.declined/2026-11-01.ts';
import * as teamMemberAdded20261101 from './team_member.added/2026-11-01.ts';
import * as teamMemberRemoved20261101 from './team_member.removed/2026-11-01.ts';
import * as teamMemberUpdated20261101 from './team_member.updated/2026-11-01.ts';
import * as webhookTest20261101 from './webhook.test/2026-11-01.ts';

/** Renders the `data` of a payload from a snapshot. */
type RenderData<Snapshot> = (snapshot: Snapshot) => object;

type Renderers = { [Type in keyof EventSnapshots]: Readonly<Record<string, RenderData<EventSnapshots[Type]>>> };

/** The renderer of each version of each event type. A new version adds one file and one line. */
export const renderers: Renderers = {
  'lender.updated': { '2026-11-01': lenderUpdated20261101.render },
  'referral.converted': {
    '2026-11-01': referralConverted20261101.render,
    '2027-02-01': referralConverted20270201.render,
  },
  'referral.created': { '2026-11-01': referralCreated20261101.render },
  'referral.declined': { '2026-11-01': referralDeclined20261101.render },
  'team_member.added': { '2026-11-01': teamMemberAdded20261101.render },
  'team_member.removed': { '2026-11-01': teamMemberRemoved20261101.render },
  'team_member.updated': { '2026-11-01': teamMemberUpdated20261101.render },
  'webhook.test': { '2026-11-01': webhookTest20261101.render },
};
