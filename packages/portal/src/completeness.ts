import { timeOfId } from './find.ts';
import type { EventPageFragment } from './generated/documents.ts';
import { digestOf, type ReceiverLog } from './receiver-log.ts';
import { formatUtc } from './time.ts';
import { numberOf, plural } from './words.ts';

export interface Range {
  /** Null for the first event that is kept. */
  readonly sinceMs: number | null;
  /** Not in the future. */
  readonly untilMs: number;
  /** Null for all types. */
  readonly type: string | null;
}

/** An event that exists. */
export interface ComparedEvent {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly type: string;
  readonly createdMs: number;
}

/** What was compared so far. */
export interface Comparison {
  /** Of the first event that was read. */
  startSequence: number | null;
  startMs: number;
  /** Of the first event in the range. */
  firstSequence: number | null;
  /** Of the last event that was read, even after the range. */
  readSequence: number | null;
  lastSequence: number;
  /** Earlier events had their sequences when the last page was read. */
  numberedUntilMs: number;
  /** The first event that was kept when the range was begun. */
  firstKeptSequence: number | null;
  compared: number;
  comparedBodies: number;
  /** Bodies of the log whose payload cannot be read. */
  otherBodies: number;
  /** Test events that the log does not name. Receivers may ignore them. */
  tests: number;
  /** Whether a sequence was left out. */
  hasGap: boolean;
  readonly missing: ComparedEvent[];
  readonly altered: (ComparedEvent & { readonly line: number })[];
}

export function startComparison(): Comparison {
  return {
    startSequence: null,
    startMs: 0,
    firstSequence: null,
    readSequence: null,
    lastSequence: 0,
    numberedUntilMs: 0,
    firstKeptSequence: null,
    compared: 0,
    comparedBodies: 0,
    otherBodies: 0,
    tests: 0,
    hasGap: false,
    missing: [],
    altered: [],
  };
}

type Page = Omit<EventPageFragment, 'edges'> & {
  readonly edges: readonly {
    readonly sequence: number;
    readonly node: EventPageFragment['edges'][number]['node'] & { readonly payload?: string | null };
  }[];
};

// Events are numbered in the order of their creation, unless the clock was set back meanwhile.
const clockMs = 600_000;

const timeOf = (gid: string): number => timeOfId(numberOf(gid));

/** Compares the next page with the log. Returns whether it is the last one. */
export async function comparePage(found: Comparison, page: Page, log: ReceiverLog, range: Range): Promise<boolean> {
  if (found.readSequence === null) found.firstKeptSequence = page.firstKeptSequence;
  found.lastSequence = page.lastSequence;
  found.numberedUntilMs = Date.parse(page.numberedUntil);
  let isPast = false;
  for (const { sequence, node } of page.edges) {
    const { eventId, deliveryId, type, isTest, payload } = node;
    if (found.readSequence !== null && sequence !== found.readSequence + 1) found.hasGap = true;
    const createdMs = timeOf(deliveryId);
    if (found.startSequence === null) Object.assign(found, { startSequence: sequence, startMs: createdMs });
    found.readSequence = sequence;
    const named = [log.ids.get(deliveryId), log.ids.get(eventId)].filter((each) => each !== undefined);
    for (const logged of named) logged.isFound = true;
    // A worker that is late creates the delivery of an event long after the event.
    const eventMs = timeOf(eventId);
    isPast = eventMs >= range.untilMs + clockMs;
    if (eventMs >= range.untilMs || (range.type !== null && range.type !== type)) continue;
    found.firstSequence ??= sequence;
    if (isTest && named.length === 0) {
      found.tests += 1;
      continue;
    }
    found.compared += 1;
    const event = { sequence, deliveryId, type, createdMs };
    if (named.length === 0) found.missing.push(event);
    const bodies = named.flatMap((logged) => [...logged.bodies]);
    if (bodies.length === 0) continue;
    const sent = typeof payload !== 'string' ? null : await digestOf(JSON.parse(payload));
    for (const [digest, line] of bodies) {
      if (sent === null) found.otherBodies += 1;
      else found.comparedBodies += 1;
      if (sent !== null && digest !== sent) found.altered.push({ ...event, line });
    }
  }
  return isPast || !page.pageInfo.hasNextPage;
}

/** Whether events before the first one that was read are no longer kept. */
const isBegunLate = ({ startSequence, firstKeptSequence }: Comparison): boolean =>
  firstKeptSequence !== null && firstKeptSequence > 1 && startSequence === firstKeptSequence;

/** The ids of the log that are not of the subscription: those of the range, and how many are of another time. */
export function unexpectedOf(log: ReceiverLog, found: Comparison, { sinceMs, untilMs }: Range) {
  const fromMs = Math.max(sinceMs ?? 0, isBegunLate(found) ? found.startMs : 0);
  const others = [...log.ids].filter(([, { isFound }]) => !isFound).map(([id, { line }]) => ({ id, line }));
  const inside = others.filter(({ id }) => timeOf(id) >= fromMs && timeOf(id) < untilMs);
  return { unexpected: inside, outside: others.length - inside.length };
}

/** Deliveries of the last minutes can be on their way. */
const freshMs = 300_000;

/** Why a comparison without a difference is no proof. Empty if it is one. */
export function doubtsOf(found: Comparison, log: ReceiverLog, range: Range, nowMs: number): string[] {
  const { firstKeptSequence, lastSequence, numberedUntilMs, compared, otherBodies } = found;
  const doubts: (string | false)[] = [
    compared === 0 && 'Nothing was compared: the range has no event.',
    compared === 0 && firstKeptSequence === null && lastSequence > 0 && 'None of its events is kept any longer.',
    isBegunLate(found) && `Events before sequence ${firstKeptSequence} are no longer kept, so they were not compared.`,
    found.hasGap && 'Sequences are missing in what the server sent. Ask the operator.',
    numberedUntilMs < range.untilMs &&
      `Events created since ${formatUtc(numberedUntilMs)} can still wait for their sequence, so they were not compared. Compare again later, or with an earlier end. If this time stays the same, ask the operator.`,
    range.untilMs > nowMs - freshMs &&
      'The range ends less than 5 minutes ago. Its last events can be on their way, or not in the log yet. Compare again with an earlier end.',
    otherBodies > 0 &&
      `${plural(otherBodies, 'body', 'bodies')} could not be compared: the payload is not kept, or this session may not read it.`,
    log.unreadableLines > 0 &&
      `${plural(log.unreadableLines, 'line')} of the log could not be read. ${log.firstProblem}`,
  ];
  return doubts.filter((doubt) => doubt !== false);
}
