import type { VictimRequest, AttackResult } from '../protocol.ts';
import { openConnections } from './open-connections.ts';
import { sendDocuments } from './send-documents.ts';

export interface Attack {
  /** One line for the help and the report. */
  title: string;
  /** Attacks for `durationMs`, in a process of its own. */
  run(attacker: VictimRequest): Promise<AttackResult>;
}

/** A new attack is a file in this folder and an entry here. */
export const attacks = {
  connections: { title: 'one key opens 10,000 connections', run: openConnections },
  invalid: { title: 'new documents with 840 unknown fields', run: sendDocuments('invalid') },
  inputs: { title: 'new documents with 10 unknown input fields', run: sendDocuments('inputs') },
  overlap: { title: 'new documents with 1,920 fields to merge', run: sendDocuments('overlap') },
  fragments: { title: 'new documents with 12 fragments of 120 fields', run: sendDocuments('fragments') },
  comment: { title: 'new documents with 95 kB of comment', run: sendDocuments('comment') },
  expensive: { title: 'a cached document that is refused most of the time', run: sendDocuments('expensive') },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

export interface AttackRequest extends VictimRequest {
  name: AttackName;
}
