import { webhookEventTypes } from '@deedwire/webhook-events';
import type { EventContract } from '../src/event.ts';
import { ownEvents } from '../src/generated/own-events.ts';

const ownTypes = new Set(ownEvents.map(({ type }) => type));

/** The contracts of the platform's own events, which every interface has. */
export const ownContracts = (interfaces: readonly string[]): EventContract[] =>
  webhookEventTypes.filter(({ type }) => ownTypes.has(type)).map((contract) => ({ ...contract, interfaces }));
