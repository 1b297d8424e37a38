/** What a line of the log of a receiver says. */
export interface LogLine {
  /** The `webhook-id` of a request, or the `id` of an event. Not checked. */
  readonly id: string;
  /** The JSON value of a body, or a text that is not JSON. Undefined if the line has only the id. */
  readonly body: unknown;
}

/**
 * Reads a line: the `webhook-id` of a request, the `id` of an event, the body of a request, or an object with `deliveryId` and
 * `body`. Returns the reason if it is none of them.
 *
 * @param text without white space around it
 */
export function readLogLine(text: string): LogLine | string {
  if (!text.startsWith('{')) return { id: text.replace(/^"(.*)"$/, '$1'), body: undefined };
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it begins with `{`, but it is not a JSON object';
  }
  const { deliveryId, body, id } = value;
  if (typeof deliveryId === 'string') {
    if (typeof body !== 'string') return { id: deliveryId, body };
    try {
      return { id: deliveryId, body: JSON.parse(body) };
    } catch {
      return { id: deliveryId, body };
    }
  }
  if (typeof id === 'string') return { id, body: value };
  return 'it has neither `deliveryId` nor `id`';
}

/**
 * The same text for JSON values that differ in the order of members only.
 *
 * @throws {RangeError} if the value is nested too deeply: JSON.parse has no limit, but JSON.stringify calls itself for each level
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
