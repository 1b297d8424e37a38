import type { VictimRequest, AttackResult } from '../protocol.ts';
import { openConnections } from './open-connections.ts';

export interface Attack {
  /** One line for the help and the report. */
  title: string;
  /** Attacks for `durationMs`, in a process of its own. */
  run(attacker: VictimRequest): Promise<AttackResult>;
}

/** A new attack is a file in this folder and an entry here. */
export const attacks = {
  connections: { title: 'one key opens 10,000 connections', run: openConnections },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

export interface AttackRequest extends VictimRequest {
  name: AttackName;
}
