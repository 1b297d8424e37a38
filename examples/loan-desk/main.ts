import type { ReferralConverted } from '@deedwire/webhook-events/referral.converted/2026-11-01';
import { TeamDocument } from './generated/lender.ts';
import { pins } from './pins.ts';
import { listen, readTeam } from './service.ts';

const { lender } = await readTeam(TeamDocument, {});
const team = lender.members.map(({ email }) => email);

const event = await listen({ lender: lender.name, team });
if (event.type !== 'referral.converted' || event.version !== pins.referralConverted)
  throw new Error('The event has another type or version.');
const { data }: ReferralConverted = event;
process.stdout.write(`${JSON.stringify({ id: event.id, referral: data.referralId, matter: data.matterId })}\n`);
