import { ownEvents } from './generated/own-events.ts';

const types = new Set(ownEvents.map(({ type }) => type));

/** Whether the platform itself appends the events of a type. */
export const isOwnEventType = (type: string): boolean => types.has(type);
