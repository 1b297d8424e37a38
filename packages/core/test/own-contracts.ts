import type { EventContract } from '@deedwire/core';
import { webhookEventTypes } from '@deedwire/webhook-contract';

/** The contracts of the platform's own events, which every interface has. */
export const ownContracts = (interfaces: readonly string[]): EventContract[] =>
  webhookEventTypes.map((contract) => ({ ...contract, interfaces }));
