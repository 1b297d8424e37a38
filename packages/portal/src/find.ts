export type Wanted =
  | { readonly kind: 'delivery'; readonly number: string }
  | { readonly kind: 'event'; readonly id: string; readonly type: string | null; readonly atMs: number }
  | { readonly kind: 'record'; readonly id: string };

const gid = /gid:\/\/[a-z][a-z0-9-]*\/(\w+)\/(\d{1,19})/;

/** What somebody looks for: a payload, a header, an identifier in any text, or the number of a delivery. Null if nothing is named. */
export function wantedOf(text: string): Wanted | null {
  const payload = payloadOf(text);
  const [id = '', type = '', number = ''] = gid.exec(payload?.id ?? text) ?? [];
  if (type === 'WebhookEvent') {
    const atMs = Date.parse(payload?.timestamp ?? '') || timeOfId(number);
    return { kind: 'event', id, type: payload?.type ?? null, atMs };
  }
  if (type === 'WebhookDelivery') return { kind: 'delivery', number };
  if (type !== '') return { kind: 'record', id };
  const trimmed = text.trim();
  return /^\d{1,19}$/.test(trimmed) ? { kind: 'delivery', number: trimmed } : null;
}

/** When a record was created, which the first 41 bits of its number say. */
export function timeOfId(number: string): number {
  return Date.UTC(2026, 0, 1) + Number(BigInt(number) >> 22n);
}

function payloadOf(text: string): { id: string; type: string; timestamp: string } | null {
  try {
    const { id, type, timestamp } = JSON.parse(text);
    return [id, type, timestamp].every((value) => typeof value === 'string') ? { id, type, timestamp } : null;
  } catch {
    return null;
  }
}
