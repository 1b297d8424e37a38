import { createHash } from 'node:crypto';
import { parseGid } from '@deedwire/core';
import { canonicalJson, readLogLine } from '@deedwire/core/receiver-log-line';
import { RefusedError } from '../kernel/errors.ts';

/** What a log says about a delivery or an event. */
export interface LoggedId {
  /** The first line that names it. Starts at 1. */
  line: number;
  /** The first line of each different body, by its digest. */
  bodies: ReadonlyMap<string, number>;
  /** Whether its record exists. */
  isFound: boolean;
}

const noBodies: ReadonlyMap<string, number> = new Map();

/** What a receiver has logged, by the number of the record. */
export interface ReceiverLog {
  deliveries: Map<string, LoggedId>;
  events: Map<string, LoggedId>;
  /** How many lines name what another line names too. */
  repeatedLines: number;
}

/**
 * Reads a log. A line is the `webhook-id` of a request, the `id` of an event, the body of a request, or an object with `deliveryId`
 * and `body`. Empty lines are ignored.
 *
 * @param idsMax how many deliveries or events it may name. With bodies, each takes about 330 bytes.
 * @throws {RefusedError} `INVALID` for a line that names neither a delivery nor an event, and for more than `idsMax`
 */
export async function readReceiverLog(
  gidNamespace: string,
  lines: AsyncIterable<string> | Iterable<string>,
  idsMax = 5_000_000,
): Promise<ReceiverLog> {
  const log: ReceiverLog = { deliveries: new Map(), events: new Map(), repeatedLines: 0 };
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const trimmed = text.trim();
    if (trimmed === '') continue;
    const read = readLogLine(trimmed);
    if (typeof read === 'string') throw unreadable(line, read);
    const { id, body } = read;
    const deliveryId = parseGid(gidNamespace, 'WebhookDelivery', id);
    const number = deliveryId ?? parseGid(gidNamespace, 'WebhookEvent', id);
    if (number === null)
      throw unreadable(line, `${JSON.stringify(id.slice(0, 100))} is not the id of a delivery or an event`);
    const ids = deliveryId === null ? log.events : log.deliveries;
    const known = ids.get(number);
    if (known !== undefined) log.repeatedLines += 1;
    const logged = known ?? { line, bodies: noBodies, isFound: false };
    if (known === undefined) ids.set(number, logged);
    if (ids.size > idsMax)
      throw new RefusedError(
        'INVALID',
        `The log names more than ${idsMax.toLocaleString('en')} ${deliveryId === null ? 'events' : 'deliveries'}. Split it by time, and compare each part with --since and --until.`,
      );
    if (body === undefined) continue;
    const digest = digestOfLine(body, line);
    if (!logged.bodies.has(digest)) logged.bodies = new Map(logged.bodies).set(digest, line);
  }
  return log;
}

function unreadable(line: number, reason: string): RefusedError {
  return new RefusedError(
    'INVALID',
    `Line ${line} of the log cannot be read: ${reason}. A line is a \`webhook-id\`, the \`id\` of an event, a body, or a JSON object with \`deliveryId\` and \`body\`.`,
  );
}

function digestOfLine(body: unknown, line: number): string {
  try {
    return digestOf(body);
  } catch (error) {
    if (error instanceof RangeError) throw unreadable(line, 'its body is nested too deeply');
    throw error;
  }
}

/** The same for JSON values that differ in the order of members only. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('latin1').slice(0, 16);
}
