import { webhookEventTypes } from '@deedwire/webhook-contract';
import type { EventContract } from '../src/event.ts';

/** The contracts of the platform's own events, which every interface has. */
export const ownContracts = (interfaces: readonly string[]): EventContract[] =>
  webhookEventTypes.map((contract) => ({ ...contract, interfaces }));
