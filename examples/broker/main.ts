import type { ReferralConverted } from '@deedwire/webhook-events/referral.converted/2027-02-01';
import { TeamDocument } from './generated/lender.ts';
import { pins } from './pins.ts';
import { listen, readTeam } from './service.ts';

const { lender } = await readTeam(TeamDocument, { first: 100 });
const team = lender.members.nodes.map(({ email }) => email);

const event = await listen({ lender: lender.name, team });
if (event.type !== 'referral.converted' || event.version !== pins.referralConverted)
  throw new Error('The event has another type or version.');
const { data }: ReferralConverted = event;
process.stdout.write(`${JSON.stringify({ id: event.id, referral: data.referral.id, matter: data.matter.id })}\n`);
