import { createHash } from 'node:crypto';
import type { StoredAuditEntry } from '@deedwire/actions';
import type { Position } from './position.ts';

/** The last line of a chain of exports. */
export interface ChainEnd {
  /** 0 before the first line. */
  line: number;
  hash: string;
}

export const emptyChain: ChainEnd = { line: 0, hash: '0'.repeat(64) };

/** A line of an export. */
export interface ExportLine {
  /** From 1, without gaps, across all exports of a chain. */
  line: number;
  /** The hash of the line before. */
  previous: string;
  /** JSON. */
  entry: string;
  /** The place of the entry in the audit log. */
  position: Position;
  hash: string;
  /** Whether the hash is that of this line. */
  isIntact: boolean;
}

/** An entry as an export contains it: JSON without line breaks. Two entries are the same if their texts are. */
export function toEntryJson(stored: StoredAuditEntry): string {
  const { at, number, login, actorType, actor, address, requestId, transactionId, action, subject, accountId } = stored;
  const facts = { at, number, login, actorType, actor, address, requestId, transactionId, action, subject, accountId };
  return `${JSON.stringify(facts).slice(0, -1)},"details":${stored.detailsJson}}`;
}

/** The line of an entry that follows the end of a chain, without its line break, and the new end. */
export function chainEntry(end: ChainEnd, entry: string): { text: string; end: ChainEnd } {
  const line = end.line + 1;
  const content = `{"line":${line},"previous":"${end.hash}","entry":${entry}`;
  const hash = hashOf(content);
  return { text: `${content},"hash":"${hash}"}`, end: { line, hash } };
}

/** SHA-256 of a line without its last member, in hexadecimal. */
function hashOf(content: string): string {
  return createHash('sha256').update(`${content}}`).digest('hex');
}

const linePattern =
  /^(\{"line":([1-9]\d{0,14}),"previous":"([0-9a-f]{64})","entry":(\{.*\})),"hash":"([0-9a-f]{64})"\}$/s;

/** Null if the text is not a line of an export. */
export function parseLine(text: string): ExportLine | null {
  const [, content, line, previous, entry, hash] = linePattern.exec(text) ?? [];
  if (content === undefined || previous === undefined || entry === undefined || hash === undefined) return null;
  const position = readPosition(entry);
  if (position === null) return null;
  return { line: Number(line), previous, entry, position, hash, isIntact: hashOf(content) === hash };
}

function readPosition(entry: string): Position | null {
  try {
    const { at, number } = JSON.parse(entry);
    const atMs = Date.parse(at);
    return Number.isNaN(atMs) || !/^\d+$/.test(number) ? null : { atMs, number };
  } catch {
    return null;
  }
}
