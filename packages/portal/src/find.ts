/** What somebody looks for. Global identifiers are as they are in events. */
export type Wanted =
  | { readonly kind: 'page'; readonly to: string }
  | { readonly kind: 'other-account' }
  | { readonly kind: 'delivery' | 'subscription' | 'number'; readonly number: string }
  | { readonly kind: 'event' | 'record' | 'replay'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string };

// JSON escapes slashes, and URLs escape them and colons, even more than once.
const slash = String.raw`(?:\/|\\{1,8}(?:\/|u002[fF])|%(?:25){0,4}2[fF])`;
const gids = new RegExp(
  String.raw`gid(?::|%((?:25){0,4})3[aA])${slash}{2}([a-z][a-z0-9-]*)${slash}(\w+)${slash}([\w.~%-]{1,1800})`,
  'g',
);
const portalAddress = /(https?:\/\/[^\s/"'<>]+\/[^\s/"'<>]+\/portal\/\d+)(?:\/([\w/-]*(?:\?[^\s#"'<>]*)?))?/;

/**
 * What a text names: a page by its address, an identifier anywhere in it, or a number. Other text can be a name. Null if it is empty.
 *
 * @param portal the address of the portal of this account, which ends with a slash
 */
export function wantedOf(text: string, portal: string): Wanted | null {
  const trimmed = text
    .trim()
    .replace(/^(["'`])(.*)\1$/s, '$2')
    .trim();
  if (trimmed === '') return null;
  const ofPayload = gidsOf(payloadIdOf(trimmed));
  const [address = '', account, to = ''] = portalAddress.exec(trimmed) ?? [];
  if (address !== '' && ofPayload.length === 0)
    return `${account}/` === portal ? { kind: 'page', to } : { kind: 'other-account' };
  const found = ofPayload.length > 0 ? ofPayload : gidsOf(trimmed);
  // Requests and logs also name the subscription and the record.
  const first = ['WebhookDelivery', 'WebhookEvent'].flatMap((type) => found.find((each) => each.type === type) ?? []);
  const [{ id, type, number } = { id: '', type: '', number: '' }] = [...first, ...found];
  if (type === 'WebhookDelivery') return { kind: 'delivery', number };
  if (type === 'WebhookEvent') return { kind: 'event', id };
  if (type === 'WebhookSubscription') return { kind: 'subscription', number };
  if (type === 'WebhookReplay') return { kind: 'replay', id };
  if (id !== '') return { kind: 'record', id };
  return isNumber(trimmed) ? { kind: 'number', number: trimmed } : { kind: 'name', name: trimmed };
}

function isNumber(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text) && BigInt(text) < 2n ** 63n;
}

/** The identifiers in a text. Those of records of the platform end with a number, and others can end with any percent-encoded text. */
function gidsOf(text: string): { id: string; type: string; number: string }[] {
  return Array.from(text.matchAll(gids)).flatMap(([, escapes, namespace = '', type = '', encoded = '']) => {
    let own = encoded;
    for (let times = escapes === undefined ? 0 : 1 + escapes.length / 2; times > 0; times -= 1) own = decode(own);
    const [number = ''] = /^[1-9]\d{0,18}(?!\d)/.exec(own) ?? [];
    const [key = ''] = /^(?:[\w.~-]|%[\da-f]{2})+/i.exec(own) ?? [];
    // A sentence can end after it.
    const last = type.startsWith('Webhook') ? number : key.replace(/\.+$/, '');
    return last === '' ? [] : [{ id: `gid://${namespace}/${type}/${last}`, type, number }];
  });
}

/** As it is if it is not encoded in UTF-8. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** When a record was created, which the first 41 bits of its number say. */
export function timeOfId(number: string): number {
  return Date.UTC(2026, 0, 1) + Number(BigInt(number) >> 22n);
}

/** The id of a payload, which its data can precede. Empty if the text is none. */
function payloadIdOf(text: string): string {
  try {
    return String(JSON.parse(text)?.id ?? '');
  } catch {
    return '';
  }
}
